/**
 * Links to files that need no credential: any client with the URL can read the file until the link expires.
 *
 * A link contains the environment, the file and the second of its expiry, signed with a key derived from the master
 * key. It returns the current content of the file, and is invalid once the file is removed.
 */
import { Context, Effect, Layer } from "effect"
import {
  BadRequest,
  type Forbidden,
  type NotFound,
  type RateLimited,
  type StoreUnavailable,
  Unauthorized
} from "../../foundation/Errors.ts"
import { EnvId, isUuid } from "../../foundation/Ids.ts"
import { now } from "../../foundation/time/Timestamp.ts"
import { Keyring } from "../../platform/encryption/Keyring.ts"
import { Caller, hostIdentity } from "../../tenants/access/Caller.ts"
import { RateLimits } from "../../tenants/orgs/RateLimits.ts"
import type { File } from "./File.ts"
import { Files, type OpenFile } from "./Files.ts"
import { PublicUrl } from "./PublicUrl.ts"

/** Unverified parts of a link, from its URL. */
export interface FileLink {
  readonly env_id: string
  readonly file_id: string
  /** Seconds since 1970. */
  readonly expires: string
  /** Base64url. */
  readonly signature: string
}

const linkDefaultSeconds = 3600
/** Maximum lifetime of a link: one week. */
const linkSecondsMax = 7 * 24 * 3600

export class FileLinks extends Context.Service<
  FileLinks,
  {
    /** Returns a URL of the file at this path, valid for `seconds`. Needs `file: read` on the path. */
    readonly make: (
      path: string,
      seconds?: number
    ) => Effect.Effect<string, Forbidden | BadRequest | NotFound | StoreUnavailable, Caller>
    /** Returns a URL of the file with this id. `NotFound` if the caller may not read it. */
    readonly makeFor: (
      fileId: string,
      seconds?: number
    ) => Effect.Effect<string, Forbidden | BadRequest | NotFound | StoreUnavailable, Caller>
    /** Returns the file of a link. `Unauthorized` if the signature is invalid or the link has expired. */
    readonly open: (
      link: FileLink
    ) => Effect.Effect<OpenFile, Unauthorized | Forbidden | RateLimited | NotFound | StoreUnavailable>
  }
>()("@weft/core/resources/files/FileLinks") {
  static readonly layer: Layer.Layer<FileLinks, never, Files | Keyring | RateLimits> = Layer.effect(
    FileLinks,
    Effect.gen(function* () {
      const files = yield* Files
      const keyring = yield* Keyring
      const rates = yield* RateLimits
      const publicUrl = yield* PublicUrl

      const makeLink = Effect.fnUntraced(function* <E>(
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
          makeLink(
            Effect.map(files.openPath(path), ({ file }) => file),
            seconds
          ),

        makeFor: (fileId, seconds = linkDefaultSeconds) => makeLink(files.get(fileId), seconds),

        open: Effect.fnUntraced(function* (link) {
          const { env_id, file_id, expires, signature } = link
          const isSigned = yield* keyring.isSigned(signedText(link), signature)
          const isExpired = !(Number(expires) > (yield* now) / 1000)
          if (!isSigned || isExpired || !isUuid(env_id)) return yield* new Unauthorized()
          const envId = EnvId.make(env_id)
          yield* rates.check(envId)
          return yield* Effect.provideService(files.open(file_id), Caller, hostIdentity(envId))
        })
      })
    })
  )
}

/** Returns the text that is signed. Valid parts contain no space, so the text is unambiguous. */
const signedText = ({ env_id, file_id, expires }: Omit<FileLink, "signature">): string =>
  `file ${env_id} ${file_id} ${expires}`
