/** Handlers for `BuildsApi` and `TriggersApi`: one service call each, no decisions. */
import { pageOf, WeftApi } from "@weft/api"
import { type BuildDownload, Builds, Caller, type EnvId, type StoreUnavailable } from "@weft/core"
import { Effect, Layer, RcMap, type Scope, Semaphore } from "effect"
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
      // Whose clients are slow keeps nobody of other environments from uploading.
      const uploadsOf = yield* RcMap.make({ lookup: (_: EnvId) => Semaphore.make(Math.ceil(uploadsAtOnce / 2)) })
      const inTurn = Effect.fnUntraced(function* <A, E, R>(upload: Effect.Effect<A, E, R>) {
        const { env_id } = yield* Caller
        const own = yield* RcMap.get(uploadsOf, env_id)
        return yield* own.withPermit(uploads.withPermit(upload))
      }, Effect.scoped)
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
          const { build, existed } = yield* inTurn(
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
          Effect.flatMap(builds.download(params.project_id_or_slug, params.build_id), (stored) =>
            download(zipOf(stored))
          ),
        deploy: ({ params }) => builds.deploy(params.project_id_or_slug, params.build_id)
      })
    })
  )

/** A build never changes. */
const zipOf = ({ build, read }: BuildDownload): Downloadable<StoreUnavailable, Scope.Scope> => ({
  size: build.size,
  etag: `"${build.hash}"`,
  modifiedAt: build.created_at,
  contentType: "application/zip",
  fileName: `build-${build.build_id}.zip`,
  read,
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
