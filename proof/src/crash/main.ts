/** A server like the reference server that crashes at the point of its trigger: see `Points.ts`. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { ApiKeys, localZones, start, Tenants } from "@weft/core"
import { type BuildId, Certificates, Dns, now, Sandbox, Timestamp } from "@weft/core/adapter"
import { MemoryStores } from "@weft/core/testing"
import * as Filesystem from "@weft/filesystem"
import * as Http from "@weft/http"
import * as Postgres from "@weft/postgres"
import * as Isolates from "@weft/sandbox"
import * as Sqlite from "@weft/sqlite"
import { Context, Effect, Layer, Redacted } from "effect"
import { type PointAction, Points } from "./Points.ts"
import type { Command, Message, ServerOptions } from "./Protocol.ts"

const options: ServerOptions = JSON.parse(process.argv[2] ?? "")
const send = (message: Message): void => void process.send?.(message)
let resumePaused = (): void => undefined

const act = (action: PointAction): Effect.Effect<void> => {
  if (action === "pause") {
    return Effect.callback<void>((resume) => {
      resumePaused = () => resume(Effect.void)
      send({ kind: "reached" })
    })
  }
  return Effect.sync(() => {
    if (action === "kill") process.kill(process.pid, "SIGKILL")
    for (const pid of children()) process.kill(pid, "SIGKILL")
    send({ kind: "reached" })
  })
}

/** Returns the pids of the runners, the only child processes of a server. */
const children = (): ReadonlyArray<number> =>
  readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").split(" ").filter(Boolean).map(Number)

const points = new Points(act)
points.set(options.trigger)

/** Builds that ran. Their quarantine is cleared, because killed runners would count against them. */
const builds = new Set<BuildId>()
let pardon = (): void => undefined

/** Wraps the sandbox like `points.wrapAll`, with points around host calls of guests. */
const wrapSandbox = (sandbox: Layer.Layer<Sandbox, unknown>): Layer.Layer<Sandbox, unknown> =>
  Layer.effect(
    Sandbox,
    Effect.map(Layer.build(points.wrapAll(sandbox)), (context) => {
      const inner = Context.get(context, Sandbox)
      pardon = () => {
        for (const build of builds) Effect.runSync(inner.clearQuarantine(build))
      }
      return points.override(inner, {
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

/** Reads DNS records from a file in the data directory. */
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
const toKey = (text: string) => Redacted.make(new Uint8Array(Buffer.from(text, "base64")))
const [first, ...former] = options.masterKeys

const weft = await start({
  database:
    url === null
      ? points.wrapAll(Sqlite.database({ file: join(options.dataDir, "weft.db") }))
      : points.wrapAll(Postgres.database({ url, statementTimeoutMs: 2_000 })),
  cluster: points.wrapAll(url === null ? MemoryStores.cluster : Postgres.cluster({ url })),
  blobs: points.wrapAll(Filesystem.blobs({ dir: join(options.dataDir, "blobs") })),
  sandbox: wrapSandbox(Isolates.sandbox({ key: toKey(first), runners: 1 })),
  masterKeys: [toKey(first), ...former.map(toKey)],
  domains: { ...localZones, dns, certificates },
  plans: { "Self-Host": { call_retention_days: options.retentionDays } },
  // A short lease, so that a crashed node is declared dead soon.
  leaseMs: 2_000
})
await weft.runtime.runPromise(
  Effect.gen(function* () {
    const { env } = yield* Tenants.use((tenants) => tenants.ensure({ org: "default", env: "production" }))
    yield* ApiKeys.use((keys) => keys.ensure(env.env_id, Redacted.make(options.apiKey)))
  })
)
const listening = await Http.listen(weft, { port: 0, adminToken: Redacted.make(options.adminToken) })

const handle = async (command: Command): Promise<void> => {
  switch (command.kind) {
    case "setTrigger":
      pardon()
      points.set(command.trigger)
      return send({ kind: "triggerSet" })
    case "takePassed":
      return send({ kind: "points", points: points.takePassed() })
    case "resume":
      return resumePaused()
    case "close":
      await listening.close()
      await weft.close()
      process.exit(0)
  }
}
process.on("message", (command: Command) => void handle(command))
// Exits with its parent.
process.once("disconnect", () => process.exit(1))
send({ kind: "listening", url: listening.url })
