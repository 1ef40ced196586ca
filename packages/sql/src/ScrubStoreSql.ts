/** `ScrubStore` on SQL. */
import { formatWhole, ScrubStore, type ScrubTarget } from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import { Database, orUnavailable } from "./Database.ts"

export const layer: Layer.Layer<ScrubStore, never, Database> = Layer.effect(
  ScrubStore,
  Effect.gen(function* () {
    const { dialect, reader, writer } = yield* Database

    const builds = (after: string, limit: number) =>
      Effect.map(
        reader<Omit<ScrubTarget, "kind" | "checksum"> & { readonly hash: string; readonly size: number }>`
          SELECT b.build_id AS id, b.env_id, p.name, b.storage_path, b.hash AS etag, b.hash, b.size
          FROM builds b JOIN projects p ON p.project_id = b.project_id
          WHERE b.build_id > ${after} ORDER BY b.build_id LIMIT ${limit}`,
        (rows) =>
          rows.map(
            ({ hash, size, ...row }): ScrubTarget => ({
              kind: "build",
              ...row,
              etag: `"${hash}"`,
              checksum: formatWhole(row.storage_path, { size, digest: hash })
            })
          )
      )

    const files = (after: string, limit: number) =>
      Effect.map(
        reader<Omit<ScrubTarget, "kind">>`
          SELECT file_id AS id, env_id, path AS name, storage_path, etag, checksum FROM files
          WHERE file_id > ${after} ORDER BY file_id LIMIT ${limit}`,
        (rows) => rows.map((row): ScrubTarget => ({ kind: "file", ...row }))
      )

    const targets = Effect.fnUntraced(function* (position: string, limit: number) {
      if (position.startsWith("file ")) return yield* files(position.slice("file ".length), limit)
      const first = yield* builds(position.slice("build ".length), limit)
      return first.length < limit ? [...first, ...(yield* files("", limit - first.length))] : first
    })

    return ScrubStore.of({
      claim: (node, now, until) =>
        writer<{ readonly position: string }>`
          INSERT INTO scrubber ${writer.insert({ id: 1, position: "", node_id: node, until })}
          ON CONFLICT (id) DO UPDATE SET node_id = excluded.node_id, until = excluded.until
          WHERE scrubber.node_id = excluded.node_id OR scrubber.until <= ${now} RETURNING position`.pipe(
          Effect.map(([row]) => row?.position ?? null),
          orUnavailable("claim")
        ),

      advance: (node, position, until) =>
        writer`UPDATE scrubber SET position = ${position}, until = ${until} WHERE id = 1 AND node_id = ${node}`.raw.pipe(
          Effect.map((raw) => dialect.changes(raw) > 0),
          orUnavailable("advance")
        ),

      targets: (position, limit) => targets(position, limit).pipe(orUnavailable("targets"))
    })
  })
)
