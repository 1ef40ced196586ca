/** Handlers for `BuildsApi` and `TriggersApi`: one service call each, no decisions. */
import { pageOf, WeftApi } from "@weft/api"
import { type Build, Builds } from "@weft/core"
import { Effect, Layer, Semaphore, Stream } from "effect"
import { HttpApiBuilder, HttpApiSchema } from "effect/http-api"
import type { HttpSettings } from "../app/HttpOptions.ts"
import { type Downloadable, download } from "../files/Download.ts"
import { listing } from "./Listing.ts"
import { checkAnnounced, readUploadForm } from "./UploadForm.ts"

const buildsGroup = ({ archiveBytes, uploadsAtOnce }: HttpSettings) =>
  HttpApiBuilder.group(
    WeftApi,
    "builds",
    Effect.fnUntraced(function* (handlers) {
      const builds = yield* Builds
      const uploads = yield* Semaphore.make(uploadsAtOnce)
      return handlers.handleAll({
        listAll: ({ query }) => {
          const page = pageOf(query)
          return Effect.map(builds.list(page), listing(page))
        },
        list: ({ params, query }) => {
          const page = pageOf(query)
          return Effect.map(builds.listOf(params.project_id_or_slug, page), listing(page))
        },
        upload: Effect.fnUntraced(function* ({ params, payload, request }) {
          yield* checkAnnounced(request.headers["content-length"], archiveBytes)
          const { build, existed } = yield* uploads.withPermits(1)(
            Effect.flatMap(readUploadForm(payload, archiveBytes), ({ zip, fields }) =>
              builds.upload(params.project_id_or_slug, { zip, ...fields })
            )
          )
          return existed
            ? HttpApiSchema.withHeaders({ body: build, headers: { "x-build-exists": "true" as const } })
            : build
        }),
        deployed: ({ params }) => builds.deployed(params.project_id_or_slug),
        live: ({ params }) => builds.live(params.project_id_or_slug),
        endLive: ({ params }) => builds.endLive(params.project_id_or_slug),
        get: ({ params }) => builds.get(params.project_id_or_slug, params.build_id),
        download: ({ params }) =>
          Effect.flatMap(builds.download(params.project_id_or_slug, params.build_id), ({ build, zip }) =>
            download(zipOf(build, zip))
          ),
        deploy: ({ params }) => builds.deploy(params.project_id_or_slug, params.build_id)
      })
    })
  )

/** A build never changes, and its zip is in memory as a whole. */
const zipOf = (build: Build, zip: Uint8Array): Downloadable<never, never> => ({
  size: zip.length,
  etag: `"${build.hash}"`,
  modifiedAt: build.created_at,
  contentType: "application/zip",
  fileName: `build-${build.build_id}.zip`,
  read: (range) => Effect.succeed(Stream.make(range === undefined ? zip : zip.subarray(range.start, range.end))),
  address: () => Effect.succeed(null)
})

const TriggersLive = HttpApiBuilder.group(
  WeftApi,
  "triggers",
  Effect.fnUntraced(function* (handlers) {
    const builds = yield* Builds
    return handlers.handleAll({
      eventHandlers: ({ params, query }) => {
        const page = pageOf(query)
        return Effect.map(builds.handlers(params.project_id_or_slug, page), listing(page))
      },
      schedules: ({ params, query }) => {
        const page = pageOf(query)
        return Effect.map(builds.schedules(params.project_id_or_slug, page), listing(page))
      }
    })
  })
)

export const buildsLive = (settings: HttpSettings) => Layer.mergeAll(buildsGroup(settings), TriggersLive)
