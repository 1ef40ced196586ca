/** The methods of `context`. Generated from the definition of the API: `npm run generate -w packages/client`. */

import type { PageQuery, Pages } from "../Pages.ts"
import type { RequestOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import { path } from "../transport/Path.ts"
import type { ContextVariableChange, ContextVariableInput } from "./Inputs.ts"
import type { ContextVariable } from "./Records.ts"

export class ContextEndpoints extends Endpoints {
  /** List the context variables of a project, by key, without their values. `GET /v1/projects/{project_id_or_slug}/context` */
  list(project: string, query: PageQuery = {}, options: RequestOptions = {}): Pages<ContextVariable> {
    return this.caller.list(path`/v1/projects/${project}/context`, options, query)
  }

  /** Create a context variable. `POST /v1/projects/{project_id_or_slug}/context` */
  create(project: string, input: ContextVariableInput, options: RequestOptions = {}): Promise<ContextVariable> {
    return this.caller.one("POST", path`/v1/projects/${project}/context`, options, { body: input })
  }

  /** Change the value of a context variable, its description, or both. `PUT /v1/projects/{project_id_or_slug}/context/{key}` */
  update(
    project: string,
    key: string,
    input: ContextVariableChange = {},
    options: RequestOptions = {}
  ): Promise<ContextVariable> {
    return this.caller.one("PUT", path`/v1/projects/${project}/context/${key}`, options, { body: input })
  }

  /** Delete a context variable. `DELETE /v1/projects/{project_id_or_slug}/context/{key}` */
  remove(project: string, key: string, options: RequestOptions = {}): Promise<void> {
    return this.caller.none("DELETE", path`/v1/projects/${project}/context/${key}`, options)
  }
}
