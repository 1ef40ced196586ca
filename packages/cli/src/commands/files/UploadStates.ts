/**
 * Uploads that broke off, in `$XDG_STATE_HOME/weft/uploads`: the same command goes on where they were. Servers keep
 * what they have of them for a day.
 */
import { createHash } from "node:crypto"
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import type { UploadState } from "@weft/client"
import { Clock, Config, Effect, Option, Schema } from "effect"

/** The same bytes for the same path, as far as one can tell without reading them. */
export interface UploadOf {
  readonly url: string
  readonly path: string
  /** Absolute. */
  readonly source: string
  readonly size: number
  /** Milliseconds since 1970. */
  readonly changedMs: number
}

export interface UploadStates {
  readonly get: (upload: UploadOf) => Effect.Effect<UploadState | undefined>
  /** At once: whatever ends the process may come next. */
  readonly keep: (upload: UploadOf, state: UploadState) => void
  readonly forget: (upload: UploadOf) => void
}

const State = Schema.fromJsonString(
  Schema.Struct({
    upload_id: Schema.String,
    part_size: Schema.Int,
    size: Schema.NullOr(Schema.Int),
    parts: Schema.Array(Schema.Struct({ part_number: Schema.Int, size: Schema.Int, etag: Schema.String }))
  })
)

const keptMs = 24 * 3600 * 1000

export const uploadStates = Effect.gen(function* () {
  const stateHome = yield* Effect.orDie(Config.option(Config.String("XDG_STATE_HOME")))
  const folder = join(
    Option.getOrElse(stateHome, () => join(homedir(), ".local", "state")),
    "weft",
    "uploads"
  )
  const fileOf = ({ url, path, source, size, changedMs }: UploadOf): string => {
    const text = JSON.stringify([url, path, source, size, changedMs])
    return join(folder, `${createHash("sha256").update(text).digest("hex")}.json`)
  }

  return {
    get: Effect.fnUntraced(function* (upload) {
      removeOlderThan(folder, (yield* Clock.currentTimeMillis) - keptMs)
      // What cannot be read is as good as nothing: the upload begins anew.
      const text = yield* Effect.option(Effect.try(() => readFileSync(fileOf(upload), "utf8")))
      return Option.getOrUndefined(Option.flatMap(text, Schema.decodeUnknownOption(State)))
    }),
    keep: (upload, state) => {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      writeFileSync(fileOf(upload), JSON.stringify(state), { mode: 0o600 })
    },
    forget: (upload) => rmSync(fileOf(upload), { force: true })
  } satisfies UploadStates
})

const removeOlderThan = (folder: string, instantMs: number): void => {
  for (const name of namesIn(folder)) {
    const file = join(folder, name)
    if ((statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? instantMs) < instantMs) rmSync(file, { force: true })
  }
}

const namesIn = (folder: string): ReadonlyArray<string> => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
