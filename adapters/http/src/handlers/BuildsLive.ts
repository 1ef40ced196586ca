/** Handlers for `BuildsApi` and `TriggersApi`: one service call each, no decisions. */
import { pageOf, WeftApi } from "@weft/api"
import { type Build, Builds, NotFound } from "@weft/core"
import { Effect, Layer, Semaphore } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder, HttpApiSchema } from "effect/http-api"
import type { HttpSettings } from "../app/HttpOptions.ts"
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
            Effect.flatMap(readUploadForm(payload, archiveBytes), ({ zip, fields: { hash, build_id } }) =>
              builds.upload(params.project_id_or_slug, { zip, hash, ...(build_id === undefined ? {} : { build_id }) })
            )
          )
          return existed
            ? HttpApiSchema.withHeaders({ body: build, headers: { "x-build-exists": "true" as const } })
            : build
        }),
        deployed: ({ params }) => builds.deployed(params.project_id_or_slug),
        // Live builds are not taken yet, so that there never is one.
        live: () => Effect.fail(new NotFound({ resource: "live build" })),
        get: ({ params }) => builds.get(params.project_id_or_slug, params.build_id),
        download: ({ params }) =>
          Effect.map(builds.download(params.project_id_or_slug, params.build_id), ({ build, zip }) =>
            zipAnswer(build, zip)
          ),
        deploy: ({ params }) => builds.deploy(params.project_id_or_slug, params.build_id)
      })
    })
  )

const zipAnswer = (build: Build, zip: Uint8Array): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.uint8Array(zip, {
    contentType: "application/zip",
    headers: {
      // Made of an id, so that no name can break out of the header.
      "content-disposition": `attachment; filename="build-${build.build_id}.zip"`,
      etag: `"${build.hash}"`
    }
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
