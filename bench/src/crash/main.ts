/** A server as the reference server is, but that it ends itself where it is told to: see `Points.ts`. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import {
  ApiKeys,
  type BuildId,
  Certificates,
  Dns,
  localZones,
  MemoryStores,
  now,
  Sandbox,
  start,
  Tenants,
  Timestamp
} from "@weft/core"
import * as Filesystem from "@weft/filesystem"
import * as Http from "@weft/http"
import * as Postgres from "@weft/postgres"
import * as Isolates from "@weft/sandbox"
import * as Sqlite from "@weft/sqlite"
import { Context, Effect, Layer, Redacted } from "effect"
import { type Deed, Points } from "./Points.ts"
import type { Command, Message, ServerOptions } from "./Protocol.ts"

const options: ServerOptions = JSON.parse(process.argv[2] ?? "")
const say = (message: Message): void => void process.send?.(message)
let goOn = (): void => undefined

const act = (deed: Deed): Effect.Effect<void> => {
  if (deed === "pause") {
    return Effect.callback<void>((resume) => {
      goOn = () => resume(Effect.void)
      say({ kind: "paused" })
    })
  }
  return Effect.sync(() => {
    if (deed === "end") process.kill(process.pid, "SIGKILL")
    for (const pid of children()) process.kill(pid, "SIGKILL")
  })
}

/** The runners: a server has no other processes. */
const children = (): ReadonlyArray<number> =>
  readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").split(" ").filter(Boolean).map(Number)

const points = new Points(act)
points.set(options.order)

/** Builds that ran, and how to forgive them that runners were ended: otherwise they would be put under quarantine. */
const builds = new Set<BuildId>()
let pardon = (): void => undefined

/** As `points.wrapAll`, and with points around what guests ask for. */
const wrapSandbox = (sandbox: Layer.Layer<Sandbox, unknown>): Layer.Layer<Sandbox, unknown> =>
  Layer.effect(
    Sandbox,
    Effect.map(Layer.build(points.wrapAll(sandbox)), (context) => {
      const inner = Context.get(context, Sandbox)
      pardon = () => {
        for (const build of builds) Effect.runSync(inner.pardon(build))
      }
      return points.over(inner, {
        invoke: (invocation) => {
          builds.add(invocation.bundle.build_id)
          return inner.invoke({
            ...invocation,
            onHostCall: (call) => points.around([`host call ${call.op}`], invocation.onHostCall(call))
          })
        }
      })
    })
  )

/** Names are what a file of the data dir says. */
const dns = Layer.succeed(Dns, {
  resolveCname: (name) =>
    Effect.sync(() => {
      const records: Record<string, string> = JSON.parse(readFileSync(join(options.dataDir, "names.json"), "utf8"))
      const value = records[name]
      return value === undefined ? [] : [value]
    }),
  resolveAddresses: () => Effect.succeed([])
})

const certificates = Layer.succeed(Certificates, {
  issue: () =>
    Effect.map(now, (instant) => ({
      chain: "a chain",
      privateKey: Redacted.make("a private key"),
      notAfter: Timestamp.make(instant + 90 * 24 * 3_600_000)
    })),
  revoke: () => Effect.void
})

const { databaseUrl } = options
const url = databaseUrl === null ? null : Redacted.make(databaseUrl)
const keyOf = (text: string) => Redacted.make(new Uint8Array(Buffer.from(text, "base64")))
const [first, ...former] = options.masterKeys

const weft = await start({
  stores:
    url === null
      ? points.wrapAll(Sqlite.stores({ file: join(options.dataDir, "weft.db") }))
      : points.wrapAll(Postgres.stores({ url, statementTimeoutMs: 2_000 })),
  feed: points.wrapAll(url === null ? MemoryStores.feed : Postgres.feed({ url })),
  blobs: points.wrapAll(Filesystem.blobs({ dir: join(options.dataDir, "blobs") })),
  sandbox: wrapSandbox(Isolates.isolated({ key: keyOf(first), runners: 1 })),
  masterKeys: [keyOf(first), ...former.map(keyOf)],
  domains: { ...localZones, dns, certificates },
  plans: { "Self-Host": { call_retention_days: options.retentionDays } },
  // Who is dead is found dead soon.
  leaseMs: 2_000
})
await weft.runtime.runPromise(
  Effect.gen(function* () {
    const { env } = yield* Tenants.use((tenants) => tenants.ensure({ org: "default", env: "production" }))
    yield* ApiKeys.use((keys) => keys.ensure(env.env_id, Redacted.make(options.apiKey)))
  })
)
const listening = await Http.listen(weft, { port: 0, adminToken: Redacted.make(options.adminToken) })

const obey = async (command: Command): Promise<void> => {
  switch (command.kind) {
    case "order":
      pardon()
      return say({ kind: "ordered", wasLeft: points.set(command.order) })
    case "passed":
      return say({ kind: "points", points: points.takePassed() })
    case "goOn":
      return goOn()
    case "close":
      await listening.close()
      await weft.close()
      process.exit(0)
  }
}
process.on("message", (command: Command) => void obey(command))
// Who has lost whoever started it serves nobody.
process.once("disconnect", () => process.exit(1))
say({ kind: "listening", url: listening.url })
