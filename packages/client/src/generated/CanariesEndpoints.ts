/** The methods of `canaries`. Generated from the definition of the API: `npm run generate -w packages/client`. */
import type { RequestOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import { path } from "../transport/Path.ts"
import type { Canary } from "./Records.ts"

export class CanariesEndpoints extends Endpoints {
  /** Get the latest canary of a project, active or ended, with the counts of both builds. `GET /v1/projects/{project_id_or_slug}/canary` */
  get(project: string, options: RequestOptions = {}): Promise<Canary> {
    return this.caller.one("GET", path`/v1/projects/${project}/canary`, options)
  }

  /** Make the active canary the deployed build, whatever its rules say. `POST /v1/projects/{project_id_or_slug}/canary/promote` */
  promote(project: string, options: RequestOptions = {}): Promise<Canary> {
    return this.caller.one("POST", path`/v1/projects/${project}/canary/promote`, options)
  }

  /** End the active canary: the deployed build gets all events and calls again, and the canary's retries. `POST /v1/projects/{project_id_or_slug}/canary/rollback` */
  rollback(project: string, options: RequestOptions = {}): Promise<Canary> {
    return this.caller.one("POST", path`/v1/projects/${project}/canary/rollback`, options)
  }
}
