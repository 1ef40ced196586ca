/** The methods of `builds`. Generated from the definition of the API: `npm run generate -w packages/client`. */

import type { PageQuery, Pages } from "../Pages.ts"
import type { BytesOptions, RequestOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import { path } from "../transport/Path.ts"
import type { BuildRunInput, BuildsCapabilitiesQuery, DeployInput } from "./Inputs.ts"
import type { Build, BuildCapabilities, BuildManifest, BuildWithProjectName, Event, Run } from "./Records.ts"

export class BuildsEndpoints extends Endpoints {
  /** List the builds of all projects, newest first. `GET /v1/builds` */
  listAll(query: PageQuery = {}, options: RequestOptions = {}): Pages<BuildWithProjectName> {
    return this.caller.list("/v1/builds", options, query)
  }

  /** List the builds of a project, newest first. `GET /v1/projects/{project_id_or_slug}/builds` */
  list(project: string, query: PageQuery = {}, options: RequestOptions = {}): Pages<Build> {
    return this.caller.list(path`/v1/projects/${project}/builds`, options, query)
  }

  /** Get the deployed build. `GET /v1/projects/{project_id_or_slug}/builds/deployed` */
  deployed(project: string, options: RequestOptions = {}): Promise<Build> {
    return this.caller.one("GET", path`/v1/projects/${project}/builds/deployed`, options)
  }

  /** Get the live (development) build. `GET /v1/projects/{project_id_or_slug}/builds/live` */
  live(project: string, options: RequestOptions = {}): Promise<Build> {
    return this.caller.one("GET", path`/v1/projects/${project}/builds/live`, options)
  }

  /** End the live build, so that the deployed build is active again. `DELETE /v1/projects/{project_id_or_slug}/builds/live` */
  endLive(project: string, options: RequestOptions = {}): Promise<void> {
    return this.caller.none("DELETE", path`/v1/projects/${project}/builds/live`, options)
  }

  /** Get a build. `GET /v1/projects/{project_id_or_slug}/builds/{build_id}` */
  get(project: string, buildId: string, options: RequestOptions = {}): Promise<Build> {
    return this.caller.one("GET", path`/v1/projects/${project}/builds/${buildId}`, options)
  }

  /** List what a build declares; a build that is not active is loaded in a sandbox. `GET /v1/projects/{project_id_or_slug}/builds/{build_id}/manifest` */
  manifest(project: string, buildId: string, options: RequestOptions = {}): Promise<BuildManifest> {
    return this.caller.one("GET", path`/v1/projects/${project}/builds/${buildId}/manifest`, options)
  }

  /** List what a build uses and declares, and what a deployment would add. `GET /v1/projects/{project_id_or_slug}/builds/{build_id}/capabilities` */
  capabilities(
    project: string,
    buildId: string,
    query: BuildsCapabilitiesQuery = {},
    options: RequestOptions = {}
  ): Promise<BuildCapabilities> {
    return this.caller.one("GET", path`/v1/projects/${project}/builds/${buildId}/capabilities`, options, { query })
  }

  /** Download the zip of a build. `GET /v1/projects/{project_id_or_slug}/builds/{build_id}/download` */
  download(project: string, buildId: string, options: BytesOptions = {}): Promise<Response> {
    return this.caller.bytes(path`/v1/projects/${project}/builds/${buildId}/download`, options)
  }

  /** Deploy a build, or give it a share of the events and calls as a canary. `POST /v1/projects/{project_id_or_slug}/builds/{build_id}/deploy` */
  deploy(project: string, buildId: string, input: DeployInput = {}, options: RequestOptions = {}): Promise<Build> {
    return this.caller.one("POST", path`/v1/projects/${project}/builds/${buildId}/deploy`, options, { body: input })
  }

  /** Release a build from quarantine, so that it runs again. `POST /v1/projects/{project_id_or_slug}/builds/{build_id}/release` */
  release(project: string, buildId: string, options: RequestOptions = {}): Promise<void> {
    return this.caller.none("POST", path`/v1/projects/${project}/builds/${buildId}/release`, options)
  }

  /** Run a function of any build; returns its run after at most `wait` seconds, or 202 with the event if none has started. `POST /v1/projects/{project_id_or_slug}/builds/{build_id}/run` */
  run(project: string, buildId: string, input: BuildRunInput, options: RequestOptions = {}): Promise<Run | Event> {
    return this.caller.one("POST", path`/v1/projects/${project}/builds/${buildId}/run`, options, { body: input })
  }
}
