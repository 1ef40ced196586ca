/**
 * Links to files that need no credential: who has one can read its file until it expires.
 *
 * A link names the environment, the file and the second of its end, signed with a key derived from the master key.
 * It means the file, not its bytes of that time, and ends with the file.
 */
import { Context, Effect, Layer } from "effect"
import { Caller, hostIdentity } from "../access/Caller.ts"
import { Keyring } from "../encryption/Keyring.ts"
import {
  BadRequest,
  type Forbidden,
  type NotFound,
  type RateLimited,
  type StoreUnavailable,
  Unauthorized
} from "../errors/Errors.ts"
import { EnvId, isUuid } from "../ids/Ids.ts"
import { now } from "../ids/Timestamp.ts"
import { RateLimits } from "../tenancy/RateLimits.ts"
import type { File } from "./File.ts"
import { Files, type OpenFile } from "./Files.ts"
import { PublicUrl } from "./PublicUrl.ts"

/** The parts of a link, as its URL says them: hostile. */
export interface FileLink {
  readonly env_id: string
  readonly file_id: string
  /** Seconds since 1970. */
  readonly expires: string
  /** Base64url. */
  readonly signature: string
}

/** Seconds. */
const linkDefaultSeconds = 3600
/** Seconds: a week. */
export const linkSecondsMax = 7 * 24 * 3600

export class FileLinks extends Context.Service<
  FileLinks,
  {
    /** A URL of the file at this path, good for so many seconds. Needs `file: read` on the path. */
    readonly make: (
      path: string,
      seconds?: number
    ) => Effect.Effect<string, Forbidden | BadRequest | NotFound | StoreUnavailable, Caller>
    /** The same of the file with this id; `NotFound` where the caller may not read it. */
    readonly makeFor: (
      fileId: string,
      seconds?: number
    ) => Effect.Effect<string, Forbidden | BadRequest | NotFound | StoreUnavailable, Caller>
    /** The file of a link. `Unauthorized` for one that we did not make, or that has expired. */
    readonly open: (
      link: FileLink
    ) => Effect.Effect<OpenFile, Unauthorized | Forbidden | RateLimited | NotFound | StoreUnavailable>
  }
>()("@weft/core/files/FileLinks") {
  static readonly layer: Layer.Layer<FileLinks, never, Files | Keyring | RateLimits> = Layer.effect(
    FileLinks,
    Effect.gen(function* () {
      const files = yield* Files
      const keyring = yield* Keyring
      const rates = yield* RateLimits
      const publicUrl = yield* PublicUrl

      const linkTo = Effect.fnUntraced(function* <E>(
        find: Effect.Effect<Pick<File, "env_id" | "file_id">, E, Caller>,
        seconds: number
      ) {
        if (!(Number.isInteger(seconds) && seconds >= 1 && seconds <= linkSecondsMax)) {
          return yield* new BadRequest({ reason: `expires_in must be a whole number from 1 to ${linkSecondsMax}` })
        }
        const host = publicUrl()
        if (host === null) return yield* new BadRequest({ reason: "This host has no public URL for links" })
        const { env_id, file_id } = yield* find
        const expires = String(Math.floor((yield* now) / 1000) + seconds)
        const signature = yield* keyring.sign(signedText({ env_id, file_id, expires }))
        // Ids, digits and base64url need no escapes.
        return `${host}/v1/files/${file_id}/content?env_id=${env_id}&expires=${expires}&signature=${signature}`
      })

      return FileLinks.of({
        make: (path, seconds = linkDefaultSeconds) =>
          linkTo(
            Effect.map(files.openPath(path), ({ file }) => file),
            seconds
          ),

        makeFor: (fileId, seconds = linkDefaultSeconds) => linkTo(files.get(fileId), seconds),

        open: Effect.fnUntraced(function* (link) {
          const { env_id, file_id, expires, signature } = link
          const isOurs = yield* keyring.isSigned(signedText(link), signature)
          const isOver = !(Number(expires) > (yield* now) / 1000)
          if (!isOurs || isOver || !isUuid(env_id)) return yield* new Unauthorized()
          const envId = EnvId.make(env_id)
          yield* rates.check(envId)
          return yield* Effect.provideService(files.open(file_id), Caller, hostIdentity(envId))
        })
      })
    })
  )
}

/** No part of a link that we make has a space. */
const signedText = ({ env_id, file_id, expires }: Omit<FileLink, "signature">): string =>
  `file ${env_id} ${file_id} ${expires}`
