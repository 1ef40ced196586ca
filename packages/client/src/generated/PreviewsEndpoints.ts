/** The methods of `previews`. Generated from the definition of the API: `npm run generate -w packages/client`. */

import type { PageQuery, Pages } from "../Pages.ts"
import type { RequestOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import { path } from "../transport/Path.ts"
import type { PreviewExtensionInput, PreviewInput } from "./Inputs.ts"
import type { Preview } from "./Records.ts"

export class PreviewsEndpoints extends Endpoints {
  /** List the previews of a project, newest first. `GET /v1/projects/{project_id_or_slug}/previews` */
  list(project: string, query: PageQuery = {}, options: RequestOptions = {}): Pages<Preview> {
    return this.caller.list(path`/v1/projects/${project}/previews`, options, query)
  }

  /** Get a preview. `GET /v1/projects/{project_id_or_slug}/previews/{preview}` */
  get(project: string, preview: string, options: RequestOptions = {}): Promise<Preview> {
    return this.caller.one("GET", path`/v1/projects/${project}/previews/${preview}`, options)
  }

  /** Deploy a build to the preview of this name, an isolated copy of the project with its own URL. Creates the preview if it does not exist. It expires after `ttl` from now. `PUT /v1/projects/{project_id_or_slug}/previews/{preview}` */
  deploy(project: string, preview: string, input: PreviewInput, options: RequestOptions = {}): Promise<Preview> {
    return this.caller.one("PUT", path`/v1/projects/${project}/previews/${preview}`, options, { body: input })
  }

  /** Change the time until the removal of a preview, from now. `PATCH /v1/projects/{project_id_or_slug}/previews/{preview}` */
  extend(
    project: string,
    preview: string,
    input: PreviewExtensionInput,
    options: RequestOptions = {}
  ): Promise<Preview> {
    return this.caller.one("PATCH", path`/v1/projects/${project}/previews/${preview}`, options, { body: input })
  }

  /** Remove a preview: its triggers stop, its running runs are cancelled, and its data is deleted. `DELETE /v1/projects/{project_id_or_slug}/previews/{preview}` */
  remove(project: string, preview: string, options: RequestOptions = {}): Promise<void> {
    return this.caller.none("DELETE", path`/v1/projects/${project}/previews/${preview}`, options)
  }
}
