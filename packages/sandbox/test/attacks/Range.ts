/**
 * Where attacks are tried: one runner that attackers share with a victim, which goes on calling all the time.
 *
 * The host has a secret in its environment, the victim one in its context, its event and its globals. Nothing that an
 * attacker returns, logs, throws or asks the host for may contain them.
 */
import { randomBytes } from "node:crypto"
import { type Execution, HostCallRefused, type Outcome, Sandbox } from "@weft/core"
import { Effect, Fiber, Layer, Logger } from "effect"
import { isolated } from "../../src/index.ts"
import { runnerPids } from "../RunnerPids.ts"
import { type Call, type Tenant, tenantOf, tenantWith } from "../Tenant.ts"
import { type Attack, type Heard, preamble } from "./Attack.ts"

const MiB = 1024 * 1024

export const canary = randomBytes(16).toString("hex")
process.env.WEFT_TEST_CANARY = canary

/** What the sandbox said of its runners. */
const reports: Array<string> = []
const listener = Logger.make(({ message }) => void reports.push(String(message)))

/** A build is never put under quarantine: every attack gets its turn. */
export const rangeLayer = (cpuSliceMs: number) =>
  isolated({
    runners: 1,
    strikes: Number.MAX_SAFE_INTEGER,
    rssBytes: 900 * MiB,
    limits: { heapBytes: 64 * MiB, bufferBytes: 32 * MiB, cpuSliceMs }
  }).pipe(Layer.provide(Logger.layer([listener])))

/** Computing without a pause for so long ends what never stops by itself. */
export const briefMs = 300
/** What does stop may take its time, however busy the machine is. */
export const patientMs = 5000

/** Ends by which the police may have had to end the runner, too. */
const policed: ReadonlyArray<Outcome["_tag"]> = ["CpuExhausted", "OutOfMemory", "RunnerLost"]

const policeMs = 2_000

/** On a machine that is very busy an attack may be out of time before it has shown anything: then it is tried again. */
const triesMax = 4
const late: ReadonlyArray<Outcome["_tag"]> = ["TimedOut", "CpuExhausted", "RunnerLost"]
const wasLate = ({ outcome, faults }: Tried): boolean =>
  faults.length > 0 && late.includes(outcome._tag) && !faults.includes(leak)
const leak = "a secret of somebody else came out"

/** Runners that spoke otherwise than the kernel does: whoever brought that about was out of the isolate. */
export const protocolBreaches = (): ReadonlyArray<string> => reports.filter((report) => report.includes("protocol"))

const timeoutMs = 6000
/** What the victim may wait at worst, on a machine that does other things too. */
export const victimMs = 5000

const victimScript = `
const kept = []
export const ping = async (event, svc) => {
  kept[0] = [event.secret, await svc.context.get("secret"), new TextEncoder().encode(event.secret)]
  await new Promise((resolve) => setTimeout(resolve, 1))
  return kept[0][0] === kept[0][1]
}`

export interface Tried {
  readonly outcome: Outcome
  /** What is not as it must be; empty when the attack was held. */
  readonly faults: ReadonlyArray<string>
}

export interface Range {
  /** Deploys code that exports one function for each attack, and tries them one after another. */
  readonly run: (
    attacks: ReadonlyArray<Attack>,
    onEach?: (attack: Attack, tried: Tried) => void
  ) => Effect.Effect<void, never, Sandbox>
  /** Calls a function of a tenant of its own with hosts that listen for secrets and forgeries. */
  readonly call: (tenant: Tenant, fn: string, call?: Call) => Effect.Effect<Called>
  /** A tenant that nobody else has. */
  readonly tenant: (artifact: Uint8Array) => Tenant
  readonly victims: Victims
}

export interface Called extends Heard {
  readonly execution: Execution
  readonly faults: ReadonlyArray<string>
}

export interface Victims {
  answered: number
  readonly failed: Array<string>
  worstMs: number
}

let tenants = 1000

export const makeRange = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const victims: Victims = { answered: 0, failed: [], worstMs: 0 }
  const victim = yield* tenantOf(1, victimScript)
  const ping = pingOf(victim, victims)
  yield* ping
  /** Whoever is ended by the police may take the runner along, for so long after it. In the clock of `performance`. */
  let policedUntil = 0
  const tenant: Range["tenant"] = (artifact) => tenantWith(sandbox, ++tenants, artifact)

  const attempt = Effect.fnUntraced(function* (attack: Attack, index: number, artifact: Uint8Array) {
    const before = runnerPids()
    const mayDie = performance.now() < policedUntil
    const pings = yield* Effect.forkChild(Effect.forever(Effect.andThen(ping, Effect.sleep("2 millis"))))
    const call: Call = { timeoutMs, ...(attack.trigger === undefined ? {} : { trigger: attack.trigger }) }
    const { execution, faults, calls, lines } = yield* listen(tenant(artifact), `attack${index}`, call)
    yield* Fiber.interrupt(pings)
    yield* ping
    const { outcome } = execution
    const isPoliced = policed.includes(outcome._tag) || outcome._tag === "TimedOut"
    if (isPoliced) policedUntil = performance.now() + policeMs
    const died = !mayDie && !isPoliced && before.some((pid) => !runnerPids().includes(pid))
    const found = [attack.judge(outcome), attack.heard?.({ calls, lines }), died ? "a runner died of it" : undefined]
    return { outcome, faults: [...faults, ...found.filter((fault) => fault !== undefined)] } satisfies Tried
  })

  const run = Effect.fnUntraced(function* (
    attacks: ReadonlyArray<Attack>,
    onEach?: (attack: Attack, tried: Tried) => void
  ) {
    const script = attacks.map(({ code }, index) => `export const attack${index} = async (event, svc) => {\n${code}\n}`)
    const { artifact } = yield* tenantOf(++tenants, preamble + script.join("\n"))
    // The process that loaded it first is on its way out, and none of those that the attacks are in.
    yield* Effect.sleep("100 millis")
    for (const [index, attack] of attacks.entries()) {
      let tried = yield* attempt(attack, index, artifact)
      for (let again = 0; again < triesMax && wasLate(tried); again++) tried = yield* attempt(attack, index, artifact)
      onEach?.(attack, tried)
    }
  })

  return { run, call: listen, tenant, victims } satisfies Range
})

const pingOf = (victim: Tenant, victims: Victims) =>
  victim
    .call("ping", {
      svc: { event: { secret: canary }, run: {} },
      timeoutMs: 10_000,
      onHostCall: () => Effect.succeed(JSON.stringify(canary))
    })
    .pipe(
      Effect.flatMap(({ outcome, usage }) =>
        Effect.sync(() => {
          victims.answered++
          victims.worstMs = Math.max(victims.worstMs, usage.wall_ms)
          if (outcome._tag !== "Returned" || outcome.output !== "true") victims.failed.push(JSON.stringify(outcome))
        })
      )
    )

/** What the host answers: whatever is refused in name is refused, everything else gets an object. */
const answerTo = (op: string, payload: string): Effect.Effect<string, HostCallRefused> =>
  payload.includes("refuse")
    ? Effect.fail(new HostCallRefused({ name: "Forbidden", message: "no" }))
    : Effect.succeed(
        op.startsWith("fetch.") ? (fetchAnswers[op] ?? "null") : '{"list":[1],"text":"t","__proto__":{"x":1}}'
      )

const fetchAnswers: Readonly<Record<string, string>> = {
  "fetch.send": '{"status":200,"status_text":"OK","url":"https://a.test/","redirected":false,"headers":[["x-a","b"]]}',
  "fetch.read": '{"bytes":"eyJhIjoxfQ==","done":true}'
}

const listen = Effect.fnUntraced(function* (tenant: Tenant, fn: string, call: Call = {}) {
  const calls: Array<{ readonly op: string; readonly payload: string }> = []
  const lines: Array<string> = []
  const execution = yield* tenant.call(fn, {
    ...call,
    onHostCall: ({ op, payload }) => {
      calls.push({ op, payload })
      return answerTo(op, payload)
    },
    onLog: ({ message, data }) => void lines.push(data === null ? message : `${message} ${data}`)
  })
  const said = JSON.stringify([execution, calls, lines])
  // Payloads and names of host functions may be any text: the runtime reads them by schemas and looks names up.
  const foreign = calls.filter(({ op }) => !/^(?:host\..{1,128}|[a-z]+(?:\.[a-z]+)?)$/s.test(op) || op === "forged")
  return {
    execution,
    calls,
    lines,
    faults: [
      ...(said.includes(canary) ? [leak] : []),
      ...foreign.map(({ op, payload }) => `the host was asked for ${JSON.stringify([op, payload]).slice(0, 200)}`)
    ]
  }
})
