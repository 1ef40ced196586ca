/**
 * A whole server in this process, for development: SQLite and files in one folder, made when they are missing.
 *
 * Loaded only by the commands that need it, and with the runtime's own copy of Effect: nothing but plain values passes.
 */
import { randomBytes } from "node:crypto"
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { ApiKeys, start, Tenants } from "@weft/core"
import { outbound } from "@weft/egress"
import * as Filesystem from "@weft/filesystem"
import * as Http from "@weft/http"
import * as Sandbox from "@weft/sandbox"
import * as Sqlite from "@weft/sqlite"
import { Effect, Redacted } from "effect"

export interface LocalServerOptions {
  /** Holds everything: database, files, keys. */
  readonly folder: string
  /** 0 for any that is free. */
  readonly port: number
  readonly version: string
}

export interface LocalServer {
  readonly url: string
  readonly apiKey: string
  readonly adminToken: string
  /** Lets running functions finish, for 30 s at most. */
  readonly close: () => Promise<void>
}

const org = "default"
const environment = "development"

/** Rejects with an error whose message is for people when the folder or the port is taken. */
export const openLocalServer = async ({ folder, port, version }: LocalServerOptions): Promise<LocalServer> => {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const key = Filesystem.masterKey({ file: join(folder, "master.key") })
  let url: string | null = null
  const weft = await start({
    publicUrl: () => url,
    stores: Sqlite.stores({ file: join(folder, "weft.db") }),
    blobs: Filesystem.blobs({ dir: join(folder, "blobs") }),
    sandbox: Sandbox.isolated({ key, spareRunner: true }),
    // What is being written here may talk to what else runs on this machine.
    egress: outbound({ policy: { allow: ["127.0.0.1", "::1", "localhost"] } }),
    masterKeys: [key]
  })
  try {
    const adminToken = keptSecret(join(folder, "admin.token"), () => token())
    const apiKey = await weft.runtime.runPromise(openEnvironment(join(folder, "api.key")))
    const listening = await Http.listen(weft, { port, version, adminToken: Redacted.make(adminToken) })
    url = listening.url
    return {
      url,
      apiKey,
      adminToken,
      close: async () => {
        await Promise.all([listening.drain(), weft.drain()])
        await listening.close()
        await weft.close()
      }
    }
  } catch (error) {
    await weft.close()
    throw error
  }
}

/** The environment of this folder and its key, made the first time. Gives the key's token. */
const openEnvironment = Effect.fnUntraced(function* (file: string) {
  const tenants = yield* Tenants
  const found = yield* Effect.option(tenants.resolve(org, environment))
  const env =
    found._tag === "Some"
      ? found.value
      : yield* Effect.flatMap(
          Effect.catchTag(tenants.getOrg(org), "NotFound", () => tenants.createOrg({ slug: org })),
          ({ org_id }) => tenants.createEnv(org_id, { name: environment })
        )
  const secret = keptSecret(file, () => `svc_${env.env_id}_${token()}`)
  yield* (yield* ApiKeys).ensure(env.env_id, Redacted.make(secret))
  return secret
})

const token = (): string => randomBytes(32).toString("base64url")

/** Under another name first, so that a crash in the middle leaves no half of a secret. */
const keptSecret = (file: string, make: () => string): string => {
  if (existsSync(file)) return readFileSync(file, "utf8").trim()
  const value = make()
  const draft = `${file}.${process.pid}.tmp`
  writeFileSync(draft, `${value}\n`, { mode: 0o600, flush: true })
  chmodSync(draft, 0o600)
  renameSync(draft, file)
  return value
}
