/**
 * Invokes a host function within its limits, with checked input and output.
 *
 * Errors of the host are written to the host's log. The guest receives only the failure and the id of its run.
 */
import { Cause, Clock, Deferred, Effect, Exit, Fiber, Option } from "effect"
import { KeyedSemaphore } from "../../../foundation/KeyedSemaphore.ts"
import { utf8Length } from "../../../foundation/Utf8.ts"
import { defaultLimits } from "../../../platform/sandbox/Limits.ts"
import { readGuestJson } from "./GuestJson.ts"
import type { HostRefused, TenantCall } from "./HostFunction.ts"
import type { HostCallOutcome, HostMeter } from "./HostMeter.ts"
import type { RegisteredFunction } from "./HostTable.ts"
import { type PendingCallLimit, pendingCallsMax } from "./PendingCallLimit.ts"
import { Rates } from "./Rates.ts"

/** A call that failed: its outcome for metrics, and the error for the guest. */
export class FailedHostCall {
  readonly outcome: HostCallOutcome
  readonly name: string
  readonly message: string

  constructor(outcome: HostCallOutcome, name: string, message: string) {
    this.outcome = outcome
    this.name = name
    this.message = message
  }
}

export class HostFunctionInvoker {
  readonly #function: RegisteredFunction
  readonly #rates: Rates | null
  readonly #runSlots: KeyedSemaphore
  readonly #envSlots: KeyedSemaphore
  readonly #pendingLimit: PendingCallLimit
  readonly #meter: HostMeter

  constructor(registered: RegisteredFunction, pendingLimit: PendingCallLimit, meter: HostMeter) {
    this.#function = registered
    this.#rates = registered.rate === null ? null : new Rates(registered.rate)
    this.#runSlots = new KeyedSemaphore(registered.concurrency.run)
    this.#envSlots = new KeyedSemaphore(registered.concurrency.env)
    this.#pendingLimit = pendingLimit
    this.#meter = meter
  }

  allows(call: TenantCall): Effect.Effect<boolean, FailedHostCall> {
    return Effect.suspend(() => Effect.succeed(this.#function.allow?.(call) ?? true)).pipe(
      Effect.map((answer) => answer === true),
      Effect.catchCause((cause) => failed(call, "failed in its check `allow`", cause))
    )
  }

  /** Calls the function with JSON text and returns JSON text; empty texts for no value. Interruption aborts the call. */
  call(call: TenantCall, payload: string): Effect.Effect<string, FailedHostCall> {
    return Effect.onExit(this.#call(call, payload), (exit) => Effect.sync(() => this.#count(call.name, exit)))
  }

  readonly #call = Effect.fnUntraced(function* (this: HostFunctionInvoker, call: TenantCall, payload: string) {
    const waitMs = this.#rates?.take(call.env.env_id, yield* Clock.currentTimeMillis) ?? 0
    if (waitMs > 0) return yield* limited(`${call.name} may be called again in ${waitMs} ms`)
    const input = yield* this.#read(call, payload)
    return yield* this.#write(call, yield* this.#perform(call, input, payload.length))
  })

  #read(call: TenantCall, payload: string): Effect.Effect<unknown, FailedHostCall> {
    const { read } = this.#function
    return read === null
      ? Effect.undefined
      : Effect.flatMap(readGuestJson(payload), read).pipe(
          Effect.mapError(({ reason }) => new FailedHostCall("invalid", "Invalid", `${call.name}: ${reason}`)),
          Effect.catchDefect((defect) => failed(call, "could not validate its input", Cause.die(defect)))
        )
  }

  #write(call: TenantCall, output: unknown): Effect.Effect<string, FailedHostCall> {
    const { write } = this.#function
    return write === null
      ? Effect.succeed("")
      : Effect.map(write(output), (value) => JSON.stringify(value) ?? "null").pipe(
          Effect.catchCause((cause) => failed(call, "returned a value that does not match its output schema", cause)),
          Effect.filterOrElse(
            (text) => utf8Length(text) <= defaultLimits.hostCallBytes,
            () => failed(call, `returned more than ${defaultLimits.hostCallBytes} bytes of JSON`, Cause.empty)
          )
        )
  }

  /** Runs the function. On a timeout or interruption the function is aborted, and holds its slot until it has ended. */
  #perform(call: TenantCall, input: unknown, characters: number): Effect.Effect<unknown, FailedHostCall> {
    const { env_id } = call.env
    return Effect.uninterruptibleMask((restore) =>
      Effect.suspend(() => {
        if (!this.#pendingLimit.reserve(env_id, characters)) return limited(tooManyPending)
        const began = Deferred.makeUnsafe<void>()
        const limitedRun = this.#runSlots.withPermit(
          call.run.run_id,
          this.#envSlots.withPermit(env_id, this.#run(call, input, began))
        )
        return Effect.flatMap(Effect.forkDetach(limitedRun), (fiber) => {
          fiber.addObserver(() => {
            this.#pendingLimit.release(env_id, characters)
            Deferred.doneUnsafe(began, Exit.void)
          })
          return Effect.ensuring(
            restore(this.#awaitResult(call, fiber, began)),
            Effect.sync(() => fiber.interruptUnsafe())
          )
        })
      })
    )
  }

  #run(call: TenantCall, input: unknown, began: Deferred.Deferred<void>): Effect.Effect<unknown, unknown> {
    return Effect.flatMap(Clock.currentTimeMillis, (started) => {
      this.#meter.countStart(call.name)
      Deferred.doneUnsafe(began, Exit.void)
      return Effect.ensuring(
        this.#function.run(input, call),
        Effect.map(Clock.currentTimeMillis, (now) => this.#meter.countEnd(call.name, now - started))
      )
    })
  }

  readonly #awaitResult = Effect.fnUntraced(function* (
    this: HostFunctionInvoker,
    call: TenantCall,
    fiber: Fiber.Fiber<unknown, unknown>,
    began: Deferred.Deferred<void>
  ) {
    yield* Deferred.await(began)
    const { timeoutMs } = this.#function
    const exit = yield* Effect.timeoutOption(Fiber.await(fiber), timeoutMs)
    if (Option.isNone(exit)) {
      const message = `The host function ${call.name} took longer than ${timeoutMs} ms`
      return yield* Effect.fail(new FailedHostCall("timed_out", "TimedOut", message))
    }
    if (Exit.isSuccess(exit.value)) return exit.value.value
    const thrown = Cause.squash(exit.value.cause)
    if (!isRefusal(thrown)) return yield* failed(call, "failed", exit.value.cause)
    const { name, message } = thrown
    return yield* Effect.fail(new FailedHostCall("refused", name.slice(0, 64), message.slice(0, 1024)))
  })

  #count(name: string, exit: Exit.Exit<string, FailedHostCall>): void {
    const error = Exit.isSuccess(exit) ? undefined : Option.getOrUndefined(Cause.findErrorOption(exit.cause))
    this.#meter.count(name, Exit.isSuccess(exit) ? "answered" : (error?.outcome ?? "ended"))
  }
}

const tooManyPending = `An environment may have at most ${pendingCallsMax.calls} pending calls with ${pendingCallsMax.characters} characters of input`

const limited = (message: string): Effect.Effect<never, FailedHostCall> =>
  Effect.fail(new FailedHostCall("limited", "LimitExceeded", message))

/** True for a `HostRefused`, also of another copy of this package. */
const isRefusal = (thrown: unknown): thrown is HostRefused =>
  typeof thrown === "object" &&
  thrown !== null &&
  "_tag" in thrown &&
  thrown._tag === "HostRefused" &&
  "name" in thrown &&
  typeof thrown.name === "string" &&
  "message" in thrown &&
  typeof thrown.message === "string"

const failed = (call: TenantCall, what: string, cause: Cause.Cause<unknown>): Effect.Effect<never, FailedHostCall> => {
  const { run_id, env_id } = call.run
  return Effect.logError(`The host function ${call.name} ${what}`, cause).pipe(
    Effect.annotateLogs({ run_id, env_id }),
    Effect.andThen(
      Effect.fail(new FailedHostCall("failed", "HostFailure", `The host function ${call.name} failed (run ${run_id})`))
    )
  )
}
