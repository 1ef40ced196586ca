/** Handlers for `FilesApi`: one service call each, no decisions. Bodies stream in and out. */
import { toPageRequest, WeftApi } from "@weft/api"
import { FileLinks, Files, Uploads } from "@weft/core"
import { defaultContentType } from "@weft/core/internal"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { downloadFile } from "../files/Download.ts"
import { toContent } from "../files/RequestBody.ts"
import { uploadPath } from "../files/UploadPath.ts"
import { listing } from "./Listing.ts"

export const FilesLive = HttpApiBuilder.group(
  WeftApi,
  "files",
  Effect.fnUntraced(function* (handlers) {
    const files = yield* Files
    const uploads = yield* Uploads
    const links = yield* FileLinks
    return handlers
      .handleRaw("upload", ({ request }) =>
        Effect.flatMap(uploadPath, (path) =>
          files.upload({
            path,
            content_type: request.headers["content-type"] ?? defaultContentType,
            runId: null,
            ...toContent(request)
          })
        )
      )
      .handleRaw("putPart", ({ params, request }) =>
        uploads.putPart(params.upload_id, params.part_number, toContent(request))
      )
      .handleAll({
        list: ({ query }) => {
          const page = toPageRequest(query)
          return Effect.map(files.list(page, query.prefix), listing(page))
        },
        initiate: ({ payload: { path, expected_size, content_type } }) =>
          uploads.initiate({
            path,
            ...(expected_size === undefined ? {} : { expected_size }),
            ...(content_type === undefined ? {} : { content_type })
          }),
        complete: ({ params }) => uploads.complete(params.upload_id),
        abort: ({ params }) => uploads.abort(params.upload_id),
        get: ({ params }) => files.get(params.file_id),
        download: ({ params }) => Effect.flatMap(files.open(params.file_id), downloadFile),
        link: ({ params, payload: { expires_in } }) =>
          Effect.map(links.makeFor(params.file_id, expires_in), (url) => ({ url })),
        remove: ({ params }) => files.remove(params.file_id)
      })
  })
)
