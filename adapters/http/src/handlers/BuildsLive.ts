/** Handlers for `BuildsApi` and `TriggersApi`: one service call each, no decisions. */
import { type BuildManifestRecord, toPageRequest, WeftApi } from "@weft/api"
import type { ContentDamaged, EnvId, StoreUnavailable } from "@weft/core"
import { BuildRuns, Builds, Caller } from "@weft/core"
import type { BuildDownload, DeclaredBuild } from "@weft/core/internal"
import { Effect, Layer, RcMap, type Scope, Semaphore } from "effect"
import { HttpApiBuilder, HttpApiSchema } from "effect/http-api"
import type { HttpSettings } from "../app/HttpOptions.ts"
import type { BodyMemoryBudget } from "../bodies/BodyMemoryBudget.ts"
import { BufferedBody } from "../bodies/BufferedBody.ts"
import { type Downloadable, download } from "../files/Download.ts"
import { toBegunRun } from "./BegunRun.ts"
import { listing } from "./Listing.ts"
import { checkContentLength, readUploadForm } from "./UploadForm.ts"

const buildsGroup = ({ archiveBytes, concurrentUploads }: HttpSettings, bodyBudget: BodyMemoryBudget) =>
  HttpApiBuilder.group(
    WeftApi,
    "builds",
    Effect.fnUntraced(function* (handlers) {
      const builds = yield* Builds
      const buildRuns = yield* BuildRuns
      const uploads = yield* Semaphore.make(concurrentUploads)
      // One environment takes at most half of the permits, so that its slow clients cannot block other environments.
      const uploadsPerEnv = yield* RcMap.make({
        lookup: (_: EnvId) => Semaphore.make(Math.ceil(concurrentUploads / 2))
      })
      const withUploadPermit = Effect.fnUntraced(function* <A, E, R>(upload: Effect.Effect<A, E, R>) {
        const { env_id } = yield* Caller
        const envUploads = yield* RcMap.get(uploadsPerEnv, env_id)
        return yield* envUploads.withPermit(uploads.withPermit(upload))
      }, Effect.scoped)
      return handlers.handleAll({
        listAll: ({ query }) => {
          const page = toPageRequest(query)
          return Effect.map(builds.list(page), listing(page))
        },
        list: ({ params, query }) => {
          const page = toPageRequest(query)
          return Effect.map(builds.listOf(params.project_id_or_slug, page), listing(page))
        },
        upload: Effect.fnUntraced(function* ({ params, payload, request }) {
          yield* checkContentLength(request.headers["content-length"], archiveBytes)
          const { build, existed } = yield* withUploadPermit(
            Effect.acquireUseRelease(
              Effect.sync(() => new BufferedBody(bodyBudget)),
              (archive) =>
                Effect.flatMap(readUploadForm(payload, archiveBytes, archive), ({ zip, fields }) =>
                  builds.upload(params.project_id_or_slug, { zip, ...fields })
                ),
              (archive) => Effect.sync(() => archive.release())
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
        manifest: ({ params }) =>
          Effect.map(builds.manifest(params.project_id_or_slug, params.build_id), toManifestRecord),
        capabilities: ({ params, query }) =>
          builds.capabilities(params.project_id_or_slug, params.build_id, query.compare),
        download: ({ params }) =>
          Effect.flatMap(builds.download(params.project_id_or_slug, params.build_id), (stored) =>
            download(toDownloadable(stored))
          ),
        deploy: ({ params, payload }) => builds.deploy(params.project_id_or_slug, params.build_id, payload ?? {}),
        release: ({ params }) => builds.release(params.project_id_or_slug, params.build_id),
        run: ({ params, payload }) =>
          Effect.map(buildRuns.run(params.project_id_or_slug, params.build_id, payload), toBegunRun)
      })
    })
  )

const toManifestRecord = ({ build, manifest, isActive }: DeclaredBuild): typeof BuildManifestRecord.Type => ({
  ...manifest,
  active: isActive,
  build_id: build.build_id,
  functions: manifest.functions.map(({ retry, concurrency, ...entry }) => ({
    ...entry,
    attempts: retry.attempts,
    concurrency: concurrency?.limit ?? null
  }))
})

/** A build never changes, so its hash is a strong ETag. */
const toDownloadable = ({
  build,
  read
}: BuildDownload): Downloadable<StoreUnavailable | ContentDamaged, Scope.Scope> => ({
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
        const page = toPageRequest(query)
        return Effect.map(builds.handlers(params.project_id_or_slug, page), listing(page))
      },
      schedules: ({ params, query }) => {
        const page = toPageRequest(query)
        return Effect.map(builds.schedules(params.project_id_or_slug, page), listing(page))
      }
    })
  })
)

export const buildsLive = (settings: HttpSettings, bodyBudget: BodyMemoryBudget) =>
  Layer.mergeAll(buildsGroup(settings, bodyBudget), TriggersLive)
