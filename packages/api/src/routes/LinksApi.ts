/** Links to files, which need no credential. `svc.files.url` and `POST /v1/files/{file_id}/links` create them. */
import { EnvId } from "@weft/core"
import { FileId } from "@weft/core/adapter"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { ContentDamagedError, ForbiddenError, NotFoundError, UnauthorizedError } from "../errors/ErrorSchemas.ts"
import { pathId } from "../records/Uuid.ts"
import { extension, tag } from "./Documentation.ts"
import { fileBytes, partOfFile, RangeNotSatisfiable } from "./FileBytes.ts"

export class LinksApi extends HttpApiGroup.make("links")
  .add(
    HttpApiEndpoint.get("open", "/v1/files/:file_id/content", {
      params: { file_id: pathId(FileId) },
      // Optional in the schema, because together they are the credential: a request without them is 401, not 400.
      query: {
        env_id: Schema.optionalKey(pathId(EnvId).annotate({ description: "Environment of the file" })),
        expires: Schema.optionalKey(
          Schema.String.annotate({ description: "Expiry of the link, in seconds since 1970" })
        ),
        signature: Schema.optionalKey(
          Schema.String.annotate({ description: "Signature of the server over the other parameters, as Base64url" })
        )
      },
      success: [fileBytes, partOfFile, HttpApiSchema.Empty(304), HttpApiSchema.Empty(307)],
      error: [UnauthorizedError, ForbiddenError, NotFoundError, RangeNotSatisfiable, ContentDamagedError]
    }).annotateMerge(extension("Download a file by a link, without a credential"))
  )
  .annotateMerge(tag("Links", "Downloads by links that need no credential")) {}
