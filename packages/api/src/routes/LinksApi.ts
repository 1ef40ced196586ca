/** Links to files, for whoever has one: `svc.files.url` makes them. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { ForbiddenError, NotFoundError, UnauthorizedError } from "../errors/ErrorSchemas.ts"
import { extension, tag } from "./Documentation.ts"
import { fileBytes, partOfFile, RangeNotSatisfiable } from "./FileBytes.ts"

export class LinksApi extends HttpApiGroup.make("links")
  .add(
    HttpApiEndpoint.get("open", "/v1/files/:file_id/content", {
      params: { file_id: Schema.String },
      // Together they are the credential, and a request without one is 401.
      query: {
        env_id: Schema.optionalKey(Schema.String.annotate({ description: "The environment of the file" })),
        expires: Schema.optionalKey(
          Schema.String.annotate({ description: "When the link ends, in seconds since 1970" })
        ),
        signature: Schema.optionalKey(
          Schema.String.annotate({ description: "Base64url; made by the server for all of the above" })
        )
      },
      success: [fileBytes, partOfFile, HttpApiSchema.Empty(304), HttpApiSchema.Empty(307)],
      error: [UnauthorizedError, ForbiddenError, NotFoundError, RangeNotSatisfiable]
    }).annotateMerge(extension("Download a file by a link that a function made; no credential"))
  )
  .annotateMerge(tag("Links", "Files for whoever has a link to them")) {}
