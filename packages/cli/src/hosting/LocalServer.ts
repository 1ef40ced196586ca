/**
 * A complete server in this process, for development: SQLite and files in one folder, which it creates.
 *
 * Only the commands that need this module load it. It has its own copy of Effect, so only plain values cross its border.
 */
import { randomBytes } from "node:crypto"
import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { ApiKeys, start, Tenants } from "@weft/core"
import { egress } from "@weft/egress"
import * as Filesystem from "@weft/filesystem"
import * as Http from "@weft/http"
import * as IsolatedVm from "@weft/sandbox"
import * as Sqlite from "@weft/sqlite"
import { Effect, Redacted } from "effect"

export interface LocalServerOptions {
  /** Folder of the database, files and keys. */
  readonly folder: string
  /** 0 for any free port. */
  readonly port: number
  readonly version: string
}

export interface LocalServer {
  readonly url: string
  readonly apiKey: string
  readonly adminToken: string
  /** Shuts the server down after a grace period of at most 30 s for running functions. */
  readonly close: () => Promise<void>
}

const org = "default"
const environment = "development"

/** Starts the server. Rejects with a readable message if the folder or the port is in use. */
export const openLocalServer = async ({ folder, port, version }: LocalServerOptions): Promise<LocalServer> => {
  // Also creates the folder.
  const key = Filesystem.masterKey({ file: join(folder, "master.key") })
  let url: string | null = null
  const weft = await start({
    publicUrl: () => url,
    database: Sqlite.database({ file: join(folder, "weft.db") }),
    blobs: Filesystem.blobs({ dir: join(folder, "blobs") }),
    sandbox: IsolatedVm.sandbox({ key, spareRunner: true }),
    // Functions under development may connect to other servers on this machine.
    plans: { "Self-Host": { tcp_sockets_per_run: 32 } },
    egress: egress({ policy: { allow: ["127.0.0.1", "::1", "localhost"] } }),
    masterKeys: [key]
  })
  try {
    const adminToken = readOrCreateSecret(join(folder, "admin.token"), () => token())
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

/** Creates the environment and its API key on the first start. Returns the token of the key. */
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
  const secret = readOrCreateSecret(file, () => `svc_${env.env_id}_${token()}`)
  yield* (yield* ApiKeys).ensure(env.env_id, Redacted.make(secret))
  return secret
})

const token = (): string => randomBytes(32).toString("base64url")

/** Reads a secret from a file, or creates it. The rename is atomic: a crash cannot leave half a secret. */
const readOrCreateSecret = (file: string, make: () => string): string => {
  if (existsSync(file)) return readFileSync(file, "utf8").trim()
  const value = make()
  const draft = `${file}.${process.pid}.tmp`
  writeFileSync(draft, `${value}\n`, { mode: 0o600, flush: true })
  chmodSync(draft, 0o600)
  renameSync(draft, file)
  return value
}
