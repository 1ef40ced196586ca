/** `ScrubStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import type { NodeId } from "../foundation/Ids.ts"
import type { Timestamp } from "../foundation/time/Timestamp.ts"
import { formatWhole } from "../resources/files/Checksum.ts"
import { ScrubStore, type ScrubTarget, scrubPosition } from "../resources/files/ScrubStore.ts"
import { compareText, MemoryDatabase } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<ScrubStore, never, MemoryDatabase> = Layer.effect(
  ScrubStore,
  Effect.gen(function* () {
    const { files, builds } = yield* MemoryDatabase
    let held: { readonly node: NodeId; readonly until: Timestamp } | null = null
    let stored = ""

    return ScrubStore.of({
      claim: (node, now, until) =>
        Effect.sync(() => {
          if (held !== null && held.node !== node && held.until > now) return null
          held = { node, until }
          return stored
        }),

      advance: (node, position, until) =>
        Effect.sync(() => {
          if (held?.node !== node) return false
          held = { node, until }
          stored = position
          return true
        }),

      targets: (position, limit) =>
        Effect.sync(() => {
          const all: ReadonlyArray<ScrubTarget> = [
            ...[...builds.values()].map(({ build_id, env_id, project_name, storage_path, hash, size }) => ({
              ...{ kind: "build" as const, id: build_id, env_id, name: project_name, storage_path },
              ...{ etag: `"${hash}"`, checksum: formatWhole(storage_path, { size, digest: hash }) }
            })),
            ...[...files.values()].map(({ file_id, env_id, path, storage_path, etag, checksum }) => ({
              ...{ kind: "file" as const, id: file_id, env_id, name: path, storage_path, etag, checksum }
            }))
          ]
          return all
            .filter((target) => scrubPosition(target) > position)
            .sort((a, b) => compareText(scrubPosition(a), scrubPosition(b)))
            .slice(0, limit)
        })
    })
  })
)
