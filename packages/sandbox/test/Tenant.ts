/** One build of one environment, called through the `Sandbox` as by a host. */
import { EnvId } from "@weft/core"
import {
  BuildId,
  type BundleRef,
  type Execution,
  type GuestLog,
  type HostCall,
  type HostCallRefused,
  type Invocation,
  type RequestBody,
  RunId,
  Sandbox
} from "@weft/core/adapter"
import { Effect } from "effect"
import { buildBundle } from "./zip.ts"

export const makeId = (number: number): string => `01890000-0000-7000-8000-${number.toString(16).padStart(12, "0")}`

export interface Call {
  readonly trigger?: Invocation["trigger"]
  readonly svc?: object
  readonly body?: RequestBody
  readonly timeoutMs?: number
  readonly patienceMs?: number
  readonly onHostCall?: (call: HostCall) => Effect.Effect<string, HostCallRefused>
  readonly onLog?: (line: GuestLog) => void
}

export interface Tenant {
  readonly buildId: BuildId
  readonly artifact: Uint8Array
  /** `fn` is a name in `main`, or `ns/var`. */
  readonly call: (fn: string, call?: Call) => Effect.Effect<Execution>
}

let runs = 0

/** Prepares the script and returns a tenant that calls it. Failures of the sandbox itself are defects. */
export const prepareTenant = Effect.fnUntraced(function* (number: number, script: string) {
  const sandbox = yield* Sandbox
  const { artifact } = yield* Effect.orDie(sandbox.prepare(buildBundle(script)))
  return createTenant(sandbox, number, artifact)
})

export const createTenant = (
  sandbox: Sandbox["Service"],
  number: number,
  artifact: Uint8Array,
  settings: Pick<BundleRef, "isSingleUse" | "keepsState" | "strike_id"> = {}
): Tenant => {
  const buildId = BuildId.make(makeId(number))
  return {
    buildId,
    artifact,
    call: (fn, call = {}) => {
      const [ns, name] = fn.includes("/") ? fn.split("/") : ["main", fn]
      return Effect.orDie(
        sandbox.invoke({
          run_id: RunId.make(makeId(++runs)),
          bundle: {
            env_id: EnvId.make(makeId(number)),
            build_id: buildId,
            artifact: Effect.succeed(artifact),
            renewed: Effect.succeed(artifact),
            ...settings
          },
          fn: { ns: ns ?? "main", var: name ?? "" },
          svc: JSON.stringify(call.svc ?? { event: null, run: {} }),
          ...(call.body === undefined ? {} : { body: call.body }),
          trigger: call.trigger ?? "event",
          timeoutMs: call.timeoutMs ?? 10_000,
          queueTimeoutMs: call.patienceMs ?? 0,
          onHostCall: call.onHostCall ?? (() => Effect.succeed("null")),
          onLog: call.onLog ?? (() => undefined)
        })
      )
    }
  }
}
