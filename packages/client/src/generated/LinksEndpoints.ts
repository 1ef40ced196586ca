/** The methods of `links`. Generated from the definition of the API: `npm run generate -w packages/client`. */
import type { BytesOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import { path } from "../transport/Path.ts"
import type { LinksOpenQuery } from "./Inputs.ts"

export class LinksEndpoints extends Endpoints {
  /** Download a file by a link, without a credential. `GET /v1/files/{file_id}/content` */
  open(fileId: string, query: LinksOpenQuery = {}, options: BytesOptions = {}): Promise<Response> {
    return this.caller.bytes(path`/v1/files/${fileId}/content`, options, query)
  }
}
