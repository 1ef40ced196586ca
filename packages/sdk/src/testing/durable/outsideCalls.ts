/** Reports host calls of a durable function outside of its steps, and gives them the delay of a real host. */
import { setImmediate as turn } from "node:timers/promises"
import type { Activation } from "./Activation.ts"
import type { Warning } from "./ActivationHost.ts"
import { currentZone } from "./Zone.ts"

/** Methods of `svc` that make no host call. */
const local: ReadonlySet<string> = new Set(["log", "run", "caller", "signal", "invoke"])

/** Operations whose results do not change in a run: a strict function may call them outside of steps. */
const harmless = /^(?:context|asset)\b/

/** Maximum calls in the message of an error. */
const describedMax = 3

/** Returns calls outside of steps with what to do, in parentheses for the end of an error; empty without any. */
export const describeCalls = (warnings: ReadonlyArray<Warning>): string => {
  const calls = warnings.map(({ call, at }) => (at === null ? call : `${call} at ${at}`))
  return calls.length === 0
    ? ""
    : ` (a replay does not wait for calls outside of steps, so put them into svc.step: ${calls.slice(0, describedMax).join(", ")})`
}

/** Returns `svc` with its host calls observed. */
export const observeCalls = (svc: object, activation: () => Activation): object =>
  Object.fromEntries(
    Object.entries(svc).map(([name, member]) => [
      name,
      local.has(name) ? member : observe(member, `svc.${name}`, activation)
    ])
  )

const observe = (member: unknown, path: string, activation: () => Activation): unknown => {
  if (typeof member === "function") {
    return new Proxy(member, {
      apply: (target, receiver, args) => observeCall(path, activation(), () => Reflect.apply(target, receiver, args)),
      get: (target, name) => child(Reflect.get(target, name), path, name, activation)
    })
  }
  if (typeof member !== "object" || member === null) return member
  return new Proxy(member, { get: (target, name) => child(Reflect.get(target, name), path, name, activation) })
}

const child = (member: unknown, path: string, name: string | symbol, activation: () => Activation): unknown =>
  typeof name === "symbol" || typeof member !== "function" ? member : observe(member, `${path}.${name}`, activation)

/**
 * Makes a host call. Outside of steps its answer takes some turns, as with a real host. A replay does not wait for it, so the
 * kit finds code that relies on that.
 */
export const observeCall = async <A>(path: string, activation: Activation, call: () => A | Promise<A>): Promise<A> => {
  const zone = currentZone()
  if (zone === undefined || zone.body !== null) return call()
  if (activation.isOver) return never()
  zone.onOutside(path)
  const op = path === "fetch" ? "fetch.send" : path.replace(/^svc\./, "")
  if (!harmless.test(op)) activation.checkCall(op)
  activation.pendingCalls++
  try {
    const answer = await call()
    for (let turns = 0; turns < 3; turns++) await turn()
    return activation.isOver ? await never() : answer
  } finally {
    activation.pendingCalls--
    activation.changed()
  }
}

const never = (): Promise<never> => new Promise(() => undefined)
