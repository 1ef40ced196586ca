/**
 * States of interrupted uploads, in `$XDG_STATE_HOME/weft/uploads`. The same command resumes them. Servers keep uploaded
 * parts for 24 hours.
 */
import { createHash } from "node:crypto"
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import type { UploadState } from "@weft/client"
import { Clock, Config, Effect, Option, Schema } from "effect"

/** Identifies an upload: destination and source, with the size and the modification time instead of the content. */
export interface UploadKey {
  readonly url: string
  readonly path: string
  /** Absolute path. */
  readonly source: string
  readonly size: number
  /** Milliseconds since 1970. */
  readonly changedMs: number
}

export interface UploadStates {
  readonly get: (upload: UploadKey) => Effect.Effect<UploadState | undefined>
  /** Saves synchronously, because the process may end at any time. */
  readonly save: (upload: UploadKey, state: UploadState) => void
  readonly remove: (upload: UploadKey) => void
}

const State = Schema.fromJsonString(
  Schema.Struct({
    upload_id: Schema.String,
    part_size: Schema.Int,
    size: Schema.NullOr(Schema.Int),
    parts: Schema.Array(Schema.Struct({ part_number: Schema.Int, size: Schema.Int, etag: Schema.String }))
  })
)

const retentionMs = 24 * 3600 * 1000

export const uploadStates = Effect.gen(function* () {
  const stateHome = yield* Effect.orDie(Config.option(Config.String("XDG_STATE_HOME")))
  const folder = join(
    Option.getOrElse(stateHome, () => join(homedir(), ".local", "state")),
    "weft",
    "uploads"
  )
  const stateFile = ({ url, path, source, size, changedMs }: UploadKey): string => {
    const text = JSON.stringify([url, path, source, size, changedMs])
    return join(folder, `${createHash("sha256").update(text).digest("hex")}.json`)
  }

  return {
    get: Effect.fnUntraced(function* (upload) {
      removeOlderThan(folder, (yield* Clock.currentTimeMillis) - retentionMs)
      // An unreadable state is ignored: the upload restarts.
      const text = yield* Effect.option(Effect.try(() => readFileSync(stateFile(upload), "utf8")))
      return Option.getOrUndefined(Option.flatMap(text, Schema.decodeUnknownOption(State)))
    }),
    save: (upload, state) => {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      writeFileSync(stateFile(upload), JSON.stringify(state), { mode: 0o600 })
    },
    remove: (upload) => rmSync(stateFile(upload), { force: true })
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
