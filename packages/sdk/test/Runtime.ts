/** The real runtime with the real sandbox and in-memory stores. It returns runs in the format of the test kit. */
import { setTimeout as sleep } from "node:timers/promises"
import { type HostEvent, type HostFunctions, type HostRun, start, Webhooks } from "@weft/core"
import { toJsonText } from "@weft/core/adapter"
import { Tools, type WebhookCall } from "@weft/core/internal"
import { MemoryStores } from "@weft/core/testing"
import { sandbox } from "@weft/sandbox"
import { Effect, Redacted } from "effect"
import * as z from "zod"
import { zipOf } from "./bundle.ts"

/** The fields of a run that the test kit also reports. */
export interface Seen {
  readonly status: string
  readonly result: unknown
  readonly error: { readonly name: string; readonly message: string } | null
  readonly logs: ReadonlyArray<{ readonly level: string; readonly message: string; readonly data: unknown }>
}

const key = Redacted.make(new Uint8Array(32).fill(7))
const Failed = z.object({ error: z.object({ name: z.string(), message: z.string() }) })

export const startRuntime = async (
  code: string,
  assets: Readonly<Record<string, string>>,
  host: HostFunctions = {}
) => {
  const weft = await start({
    database: MemoryStores.database,
    blobs: MemoryStores.blobs,
    sandbox: sandbox({ runners: 1, key }),
    masterKeys: [key],
    host,
    publicUrl: "https://weft.test"
  })
  const org = await weft.orgs.create({ slug: "acme" })
  const { env_id } = await weft.envs.create(org.slug, { name: "test" })
  const { token } = await weft.apiKeys.create(env_id, { name: "tests" })
  const env = weft.env(env_id)
  await env.projects.create({ name: "shop" })
  await env.context.create("shop", { key: "KEY", value: "secret" })
  const { build } = await env.builds.upload("shop", zipOf(code, assets))
  await env.builds.deploy("shop", build.build_id)

  const emitted: Array<{ readonly run_id: string; readonly data_type: string; readonly payload: unknown }> = []
  const activity = env.activity()
  const listening = (async () => {
    for await (const told of activity) {
      if (told.type !== "stream:data") continue
      emitted.push({ run_id: told.run_id, data_type: told.data_type, payload: JSON.parse(told.payload) })
    }
  })()

  const seen = async (run: HostRun): Promise<Seen> => {
    const { items } = await env.runs.logs(run.run_id)
    const failed = run.status === "failed" ? Failed.parse(run.result).error : null
    return {
      status: run.status,
      result: failed === null ? run.result : null,
      error: failed,
      logs: items
        .map(({ level, message, data }) => ({ level, message, data: data === null ? null : JSON.parse(data) }))
        // The runtime's own first log line of webhooks and tools.
        .filter(({ message }) => message !== "request" && message !== "tool call")
    }
  }

  /** Waits for the end of the function's run and returns it. */
  const ended = async (name: string, runs: () => Promise<ReadonlyArray<HostRun>>): Promise<HostRun> => {
    for (let tries = 0; tries < 600; tries++) {
      const found = (await runs()).find((run) => run.var === name && run.status !== "running")
      if (found !== undefined) return found
      await sleep(50)
    }
    throw new Error(`${name} did not run`)
  }

  const send = (call: Partial<WebhookCall> & Pick<WebhookCall, "path">) =>
    weft.runtime.runPromise(
      Webhooks.use((webhooks) =>
        webhooks.handle({
          ...{
            org: "acme",
            env: "test",
            service: "hooks",
            method: "POST",
            url: `/webhook/acme/test/hooks${call.path}`
          },
          ...{ query: {}, headers: {}, body: null, remoteIp: "127.0.0.1", token: Redacted.value(token) },
          ...call
        })
      )
    )

  const callTool = (service: string, name: string, args: z.core.util.JSONType) =>
    weft.runtime.runPromise(
      Tools.use((tools) =>
        Effect.gen(function* () {
          const entered = yield* tools.enter({ org: "acme", env: "test", service, token: Redacted.value(token) })
          const tool = entered.tools.get(name)
          if (tool === undefined) throw new Error(`There is no tool ${name}`)
          return { answer: yield* tools.call(entered, tool, toJsonText(args)), input: tool.tool.input }
        })
      )
    )

  return {
    env,
    seen,
    ended,
    emitted,
    send,
    callTool,
    /** Events that code has published, without ticks. */
    events: async (): Promise<ReadonlyArray<HostEvent>> =>
      (await env.events.list({ limit: 100, offset: 0 })).items.filter(
        ({ event_type }) => event_type !== "svc:schedule"
      ),
    close: async () => {
      await weft.close()
      await listening.catch(() => undefined)
    }
  }
}
