/** The methods of `projects`. Generated from the definition of the API: `npm run generate -w packages/client`. */

import type { PageQuery, Pages } from "../Pages.ts"
import type { RequestOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import { path } from "../transport/Path.ts"
import type { ProjectInput } from "./Inputs.ts"
import type { Project } from "./Records.ts"

export class ProjectsEndpoints extends Endpoints {
  /** List projects, newest first. `GET /v1/projects` */
  list(query: PageQuery = {}, options: RequestOptions = {}): Pages<Project> {
    return this.caller.list("/v1/projects", options, query)
  }

  /** Create a project. `POST /v1/projects` */
  create(input: ProjectInput, options: RequestOptions = {}): Promise<Project> {
    return this.caller.one("POST", "/v1/projects", options, { body: input })
  }

  /** Get a project. `GET /v1/projects/{project_id_or_slug}` */
  get(project: string, options: RequestOptions = {}): Promise<Project> {
    return this.caller.one("GET", path`/v1/projects/${project}`, options)
  }

  /** Rename a project. `PATCH /v1/projects/{project_id_or_slug}` */
  update(project: string, input: ProjectInput, options: RequestOptions = {}): Promise<Project> {
    return this.caller.one("PATCH", path`/v1/projects/${project}`, options, { body: input })
  }

  /** Delete a project with its builds. `DELETE /v1/projects/{project_id_or_slug}` */
  remove(project: string, options: RequestOptions = {}): Promise<void> {
    return this.caller.none("DELETE", path`/v1/projects/${project}`, options)
  }
}
