/**
 * Harness for attacks: one runner that attackers share with a victim, which makes calls all the time.
 *
 * The host has a secret in its environment, and the victim one in its context, its event and its globals. No result,
 * log line, error or host call of an attacker may contain them.
 */
import { randomBytes } from "node:crypto"
import { type Execution, HostCallRefused, type Outcome, Sandbox } from "@weft/core/adapter"
import { Effect, Fiber, Layer, Logger } from "effect"
import { sandbox } from "../../src/index.ts"
import { runnerPids } from "../RunnerPids.ts"
import { type Call, createTenant, prepareTenant, type Tenant } from "../Tenant.ts"
import { type Attack, type HostTraffic, preamble } from "./Attack.ts"

const MiB = 1024 * 1024

const canary = randomBytes(16).toString("hex")
process.env.WEFT_TEST_CANARY = canary

/** Warnings of the sandbox about its runners. */
const reports: Array<string> = []
const listener = Logger.make(({ message }) => void reports.push(String(message)))

/** Builds are never put under quarantine, so that every attack runs. */
export const harnessLayer = (cpuSliceMs: number) =>
  sandbox({
    runners: 1,
    strikes: Number.MAX_SAFE_INTEGER,
    rssBytes: 900 * MiB,
    limits: { heapBytes: 64 * MiB, bufferBytes: 32 * MiB, cpuSliceMs }
  }).pipe(Layer.provide(Logger.layer([listener])))

/** CPU slice for attacks that never stop computing, in milliseconds. */
export const shortSliceMs = 300
/** CPU slice for attacks that stop, long enough for a busy machine, in milliseconds. */
export const generousSliceMs = 5000

/** Outcomes after which the watchdog may also kill the runner. */
const runnerEndingTags: ReadonlyArray<Outcome["_tag"]> = ["CpuExhausted", "OutOfMemory", "RunnerLost"]

const runnerEndMs = 2_000

/** Maximum retries of an attack that ran out of time, as happens on a very busy machine. */
const triesMax = 4
const late: ReadonlyArray<Outcome["_tag"]> = ["TimedOut", "CpuExhausted", "RunnerLost"]
const ranOutOfTime = ({ outcome, faults }: Tried): boolean =>
  faults.length > 0 && late.includes(outcome._tag) && !faults.includes(leak)
const leak = "a secret of another tenant leaked"

/** Returns reports of protocol violations. The kernel causes none, so each means an escape from an isolate. */
export const protocolBreaches = (): ReadonlyArray<string> => reports.filter((report) => report.includes("protocol"))

const timeoutMs = 6000
/** Timeout of sources: each run also loads its isolate, which may take long on a busy machine. */
const sourceTimeoutMs = 15_000
/** Maximum wait of the victim on a busy machine, in milliseconds. */
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
  /** Faults; empty if the attack was contained. */
  readonly faults: ReadonlyArray<string>
}

export interface AttackHarness {
  /** Deploys code that exports one function per attack, and runs them in sequence. */
  readonly run: (
    attacks: ReadonlyArray<Attack>,
    onEach?: (attack: Attack, tried: Tried) => void
  ) => Effect.Effect<void, never, Sandbox>
  /** As `run`, with each attack as source text in an isolate of its own. */
  readonly runSources: AttackHarness["run"]
  /** Calls a tenant's function with a host that detects secrets and forgeries. */
  readonly call: (tenant: Tenant, fn: string, call?: Call) => Effect.Effect<Called>
  /** Creates a new tenant. */
  readonly tenant: (artifact: Uint8Array) => Tenant
  readonly victims: Victims
}

export interface Called extends HostTraffic {
  readonly execution: Execution
  readonly faults: ReadonlyArray<string>
}

export interface Victims {
  answered: number
  readonly failed: Array<string>
  worstMs: number
}

let tenants = 1000

export const makeHarness = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const victims: Victims = { answered: 0, failed: [], worstMs: 0 }
  const victim = yield* prepareTenant(1, victimScript)
  const ping = makePing(victim, victims)
  yield* ping
  /** Until this time the watchdog may kill the runner, because of an earlier attack. On the clock of `performance`. */
  let runnerMayDieUntil = 0
  const tenant: AttackHarness["tenant"] = (artifact) => createTenant(sandbox, ++tenants, artifact)

  const attempt = Effect.fnUntraced(function* (attack: Attack, fn: string, attacker: Tenant) {
    const before = runnerPids()
    const mayDie = performance.now() < runnerMayDieUntil
    const pings = yield* Effect.forkChild(Effect.forever(Effect.andThen(ping, Effect.sleep("2 millis"))))
    const isSource = fn === "default"
    const call: Call = {
      timeoutMs: isSource ? sourceTimeoutMs : timeoutMs,
      ...(attack.trigger === undefined ? {} : { trigger: attack.trigger })
    }
    const { execution, faults, calls, lines } = yield* listen(attacker, fn, call)
    yield* Fiber.interrupt(pings)
    yield* ping
    const { outcome } = execution
    const mayEndRunner = runnerEndingTags.includes(outcome._tag) || outcome._tag === "TimedOut"
    if (mayEndRunner) runnerMayDieUntil = performance.now() + runnerEndMs
    const died = !mayDie && !mayEndRunner && before.some((pid) => !runnerPids().includes(pid))
    const found = [
      attack.checkOutcome(outcome),
      attack.checkTraffic?.({ calls, lines }),
      died ? "the attack killed a runner" : undefined
    ]
    return { outcome, faults: [...faults, ...found.filter((fault) => fault !== undefined)] } satisfies Tried
  })

  const run = Effect.fnUntraced(function* (
    attacks: ReadonlyArray<Attack>,
    onEach?: (attack: Attack, tried: Tried) => void
  ) {
    const script = attacks.map(({ code }, index) => `export const attack${index} = async (event, svc) => {\n${code}\n}`)
    const { artifact } = yield* prepareTenant(++tenants, preamble + script.join("\n"))
    // Waits for the end of the process that prepared the bundle, so that it does not count as a killed runner.
    yield* Effect.sleep("100 millis")
    for (const [index, attack] of attacks.entries())
      onEach?.(attack, yield* insist(attack, `attack${index}`, () => tenant(artifact)))
  })

  /** Attempts the attack, again if it ran out of time. */
  const insist = Effect.fnUntraced(function* (attack: Attack, fn: string, attacker: () => Tenant) {
    let tried = yield* attempt(attack, fn, attacker())
    for (let again = 0; again < triesMax && ranOutOfTime(tried); again++) tried = yield* attempt(attack, fn, attacker())
    return tried
  })

  const runSources: AttackHarness["run"] = Effect.fnUntraced(function* (attacks, onEach) {
    for (const attack of attacks) {
      const text = `const [event, svc] = args\n${preamble}\n${attack.code}`
      const artifact = yield* Effect.orDie(sandbox.compileSource({ text, build: null }))
      const attacker = () => createTenant(sandbox, ++tenants, artifact, { isSingleUse: true })
      onEach?.(attack, yield* insist(attack, "default", attacker))
    }
  })

  return { run, runSources, call: listen, tenant, victims } satisfies AttackHarness
})

const makePing = (victim: Tenant, victims: Victims) =>
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

/** The host's reply: a refusal for payloads that contain "refuse", otherwise an object. */
const replyTo = (op: string, payload: string): Effect.Effect<string, HostCallRefused> =>
  payload.includes("refuse")
    ? Effect.fail(new HostCallRefused({ name: "Forbidden", message: "no" }))
    : Effect.succeed(
        /^(?:dns|fetch|websocket|socket)\./.test(op)
          ? (networkReplies[op] ?? "null")
          : '{"list":[1],"text":"t","__proto__":{"x":1}}'
      )

const networkReplies: Readonly<Record<string, string>> = {
  "dns.lookup": '["192.0.2.1","2001:db8::1"]',
  "fetch.send": '{"status":200,"status_text":"OK","url":"https://a.test/","redirected":false,"headers":[["x-a","b"]]}',
  "fetch.read": '{"bytes":"eyJhIjoxfQ==","done":true}',
  "websocket.open": '{"protocol":""}',
  "websocket.receive":
    '{"messages":[{"binary":false,"data":"{}","more":false}],"end":{"code":1000,"reason":"","clean":true}}',
  "socket.read": '{"bytes":"eyJhIjoxfQ==","done":true}'
}

const listen = Effect.fnUntraced(function* (tenant: Tenant, fn: string, call: Call = {}) {
  const calls: Array<{ readonly op: string; readonly payload: string }> = []
  const lines: Array<string> = []
  const execution = yield* tenant.call(fn, {
    ...call,
    onHostCall: ({ op, payload }) => {
      calls.push({ op, payload })
      return replyTo(op, payload)
    },
    onLog: ({ message, data }) => void lines.push(data === null ? message : `${message} ${data}`)
  })
  const said = JSON.stringify([execution, calls, lines])
  // Payloads and names of host functions may be any text: the runtime decodes payloads with schemas and looks up names.
  const foreign = calls.filter(({ op }) => !/^(?:host\..{1,128}|[a-z]+(?:\.[a-z]+)?)$/s.test(op) || op === "forged")
  return {
    execution,
    calls,
    lines,
    faults: [
      ...(said.includes(canary) ? [leak] : []),
      ...foreign.map(({ op, payload }) => `the host received the call ${JSON.stringify([op, payload]).slice(0, 200)}`)
    ]
  }
})
