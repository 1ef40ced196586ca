/** Parses the triggers in a function's `meta` (decisions 5.1). Pure. */
import { Result, type Schema } from "effect"
import { cronFault, isTimezone } from "../../foundation/time/Cron.ts"
import type { FunctionRef } from "../../platform/sandbox/Sandbox.ts"
import { RecordMode } from "../../tenants/orgs/RecordMode.ts"
import { isAlertEvent } from "./AlertEvents.ts"
import { canaryPromotedType, canaryRolledBackType } from "./Canary.ts"
import { flowKeys, readCondition, readFlowControl } from "./FlowControl.ts"
import {
  backgroundTimeoutMs,
  type Concurrency,
  durableTimeoutMs,
  type Endpoint,
  type EventHandler,
  type FunctionEntry,
  Method,
  requestTimeoutMs,
  type ScheduleEntry
} from "./Manifest.ts"
import type { Prompt, Resource, Tool } from "./McpEntries.ts"
import { readPrompt, readResource, readTool } from "./McpTriggers.ts"
import {
  at,
  fault,
  isObject,
  optional,
  type Read,
  readBoolean,
  readDuration,
  readEach,
  readInteger,
  readNumber,
  readObject,
  readOneOf,
  readOneOrMore,
  readText,
  readUrlSafe
} from "./MetaFields.ts"
import { checkFailureEvents, type FailureReference, failureEventType, readOnFailure } from "./OnFailure.ts"
import { type RecordingRules, readRecordingRules } from "./RecordingRules.ts"
import { noRetry, type RetryPolicy } from "./RetryPolicy.ts"

/** Triggers of a function, before its handlers and schedules have ids. */
export interface Triggers {
  readonly functions: ReadonlyArray<FunctionEntry>
  readonly handlers: ReadonlyArray<Omit<EventHandler, "event_handler_id">>
  readonly schedules: ReadonlyArray<Omit<ScheduleEntry, "schedule_id">>
  readonly endpoints: ReadonlyArray<Endpoint>
  readonly tools: ReadonlyArray<Tool>
  readonly resources: ReadonlyArray<Resource>
  readonly prompts: ReadonlyArray<Prompt>
  readonly failures: ReadonlyArray<FailureReference>
}

const second = 1000
const hour = 3600 * second

const timeoutMaxMs = hour
const durableTimeoutMaxMs = 365 * 24 * hour
const delayMaxMs = 365 * 24 * hour
/** The retention job runs every hour. */
const retentionMinMs = hour
const retentionMaxMs = 3650 * 24 * hour

const eventTypeLengthMax = 256
const textLengthMax = 4096

const concurrencyMax = 10_000

const metaKeys = [
  ...["event", "schedule", "webhook", "tool", "resource", "prompt"],
  ...["retry", "timeout", "concurrency", "idempotency", "durable", "record", "description", "secret-headers"],
  ...["onFailure", "retention"],
  ...flowKeys
]

/** Keys of the triggers whose clients wait for the result. */
const synchronousKeys = ["webhook", "tool", "resource", "prompt"]

/** Reads `durable`: true, false, or an object with `strict`, which only the sandbox reads. */
const readDurable = (value: unknown): Read<boolean> =>
  typeof value === "object" && value !== null
    ? Result.gen(function* () {
        const { strict } = yield* readObject("durable", value, ["strict"])
        yield* optional(strict, false, (it) => readBoolean("durable.strict", it))
        return true
      })
    : readBoolean("durable", value)

export const readTriggers = (fn: FunctionRef, meta: Schema.Json | undefined): Read<Triggers> =>
  readMeta({ ns: fn.ns, var: fn.var }, meta === undefined ? {} : meta)

const readMeta = (fn: FunctionRef, meta: Schema.Json): Read<Triggers> =>
  Result.gen(function* () {
    const fields = yield* readObject("", meta, metaKeys)
    const retry = yield* optional(fields.retry, noRetry, readRetry)
    const durable = yield* optional(fields.durable, false, readDurable)
    const timeoutMax = durable ? durableTimeoutMaxMs : timeoutMaxMs
    const timeout = yield* optional(fields.timeout, null, (value) => readDuration("timeout", value, 1, timeoutMax))
    if (durable && ["webhook", "tool", "resource", "prompt"].some((key) => fields[key] !== undefined)) {
      return yield* fault(
        "durable",
        "must not be set for a webhook, tool, resource or prompt, whose client waits: publish an event from it"
      )
    }
    const description = yield* optional(fields.description, "", (value) =>
      readText("description", value, textLengthMax)
    )
    const secret_headers = yield* optional(fields["secret-headers"], [], readSecretHeaders)
    const events = yield* optional(fields.event, [], (value) => readOneOrMore("event", value, readEventType))
    if (new Set(events).size < events.length) return yield* fault("event", "names an event type twice")
    yield* checkFailureEvents(events, fields)
    const onFailure = yield* optional(fields.onFailure, null, readOnFailure)
    const crons = yield* optional(fields.schedule, [], (value) => readOneOrMore("schedule", value, readSchedule))

    const concurrency = yield* optional(fields.concurrency, null, readConcurrency)
    const idempotency = yield* optional(fields.idempotency, null, (value) => readFieldPath("idempotency", value))
    const condition = yield* readCondition(fields)
    const flow = yield* readFlowControl(fields)

    const recording = yield* readRecording(fields, secret_headers)
    const recorded = recording === null ? {} : { recording }
    const background = {
      ...fn,
      retry,
      timeout_ms: timeout ?? (durable ? durableTimeoutMs : backgroundTimeoutMs),
      concurrency,
      idempotency,
      durable,
      ...(flow === undefined ? {} : { flow }),
      ...recorded
    }
    const retention_ms = yield* optional(fields.retention, null, (value) =>
      readDuration("retention", value, retentionMinMs, retentionMaxMs)
    )
    const record = recording === null ? yield* readRecord(fields) : ("before" as const)
    const synchronous = { ...fn, timeout_ms: timeout ?? requestTimeoutMs, record, ...recorded }
    return {
      failures: onFailure === null ? [] : [{ ns: fn.ns, var: fn.var, onFailure }],
      functions: [{ ...background, ...(retention_ms === null ? {} : { retention_ms }) }],
      handlers: events.map((event_type) => ({
        ...background,
        event_type,
        ...(condition === undefined ? {} : { if: condition })
      })),
      schedules: crons.map((cron) => ({ ...background, ...cron })),
      endpoints: yield* optional(fields.webhook, [], (value) =>
        Result.map(readWebhook(fn, value, description), (endpoint) => [{ ...synchronous, secret_headers, ...endpoint }])
      ),
      tools: yield* optional(fields.tool, [], (value) =>
        Result.map(readTool(fn, value, description), (tool) => [{ ...synchronous, ...tool }])
      ),
      resources: yield* optional(fields.resource, [], (value) =>
        Result.map(readResource(fn, value, description), (resource) => [{ ...synchronous, ...resource }])
      ),
      prompts: yield* optional(fields.prompt, [], (value) =>
        Result.map(readPrompt(fn, value, description), (prompt) => [{ ...synchronous, ...prompt }])
      )
    }
  })

/** Reads the recording of runs, an object in `record`; null without one. Values of secret headers are not recorded. */
const readRecording = (
  { record }: Readonly<Record<string, unknown>>,
  secretHeaders: ReadonlyArray<string>
): Read<RecordingRules | null> =>
  isObject(record)
    ? Result.map(readRecordingRules(record), (rules) => ({ ...rules, redact: [...rules.redact, ...secretHeaders] }))
    : Result.succeed(null)

/** Reads the mode in `record`. Only a function that nothing but a client starts may have another value than the default. */
const readRecord = (fields: Readonly<Record<string, unknown>>): Read<RecordMode> =>
  Result.gen(function* () {
    const mode = yield* optional(fields.record, "before", (it) => readOneOf("record", it, RecordMode.literals))
    if (mode === "before") return mode
    if (fields.event !== undefined || fields.schedule !== undefined) {
      return yield* fault(
        "record",
        `must be before for a function with an event or a schedule, whose runs are always stored (got ${mode}): give its webhook or tool a function of its own`
      )
    }
    return synchronousKeys.every((key) => fields[key] === undefined)
      ? yield* fault(
          "record",
          `must be before for a function without a webhook, tool, resource or prompt (got ${mode})`
        )
      : mode
  })

export const readRetry = (value: unknown): Read<RetryPolicy> =>
  Result.gen(function* () {
    const retry = yield* readObject("retry", value, ["attempts", "delay", "backoff", "max_delay", "jitter"])
    return {
      attempts: yield* optional(retry.attempts, noRetry.attempts, (it) => readInteger("retry.attempts", it, 1, 100)),
      delay_ms: yield* optional(retry.delay, noRetry.delay_ms, (it) => readDuration("retry.delay", it, 0, delayMaxMs)),
      backoff: yield* optional(retry.backoff, noRetry.backoff, (it) => readNumber("retry.backoff", it, 1, 1000)),
      max_delay_ms: yield* optional(retry.max_delay, noRetry.max_delay_ms, (it) =>
        readDuration("retry.max_delay", it, 0, delayMaxMs)
      ),
      jitter: yield* optional(retry.jitter, noRetry.jitter, (it) => readBoolean("retry.jitter", it))
    }
  })

const readConcurrency = (value: unknown): Read<Concurrency> =>
  Result.gen(function* () {
    const concurrency = yield* readObject("concurrency", value, ["limit", "key", "name"])
    const name = yield* optional(concurrency.name, null, (it) => readUrlSafe("concurrency.name", it))
    return {
      limit: yield* readInteger("concurrency.limit", concurrency.limit, 1, concurrencyMax),
      key: yield* optional(concurrency.key, null, (it) => readFieldPath("concurrency.key", it)),
      ...(name === null ? {} : { name })
    }
  })

/** Reads a path into `event_data`: names separated by dots, such as `order.customer_id`. */
const readFieldPath = (field: string, value: unknown): Read<string> =>
  Result.flatMap(readText(field, value, 256), (path) =>
    path.split(".").includes("")
      ? fault(field, "must be names separated by dots, as in order.id")
      : Result.succeed(path)
  )

/** Types of the events that Weft itself publishes. */
const ownEventTypes = [failureEventType, canaryPromotedType, canaryRolledBackType]

const readEventType = (field: string, value: unknown): Read<string> =>
  Result.flatMap(readText(field, value, eventTypeLengthMax), (type) => {
    if (type.startsWith("svc:") && !ownEventTypes.includes(type) && !isAlertEvent(type)) {
      const allowed = [...ownEventTypes, "svc:alert:…"].join(", ")
      return fault(field, `must not start with svc:, which is reserved, except ${allowed}`)
    }
    return type.slice(0, -1).includes("*") ? fault(field, "may have * at its end only") : Result.succeed(type)
  })

const readSchedule = (field: string, value: unknown): Read<Pick<ScheduleEntry, "cron" | "timezone">> =>
  Result.gen(function* () {
    const schedule = typeof value === "string" ? { cron: value } : yield* readObject(field, value, ["cron", "timezone"])
    const cronField = typeof value === "string" ? field : at(field, "cron")
    const timezone = yield* optional("timezone" in schedule ? schedule.timezone : undefined, "UTC", (name) =>
      typeof name === "string" && isTimezone(name)
        ? Result.succeed(name)
        : fault(at(field, "timezone"), "is not the name of a time zone")
    )
    const cron = yield* readText(cronField, schedule.cron, 256)
    const wrong = cronFault(cron)
    return wrong === null ? { cron, timezone } : yield* fault(cronField, wrong)
  })

const readWebhook = (fn: FunctionRef, value: unknown, description: string) =>
  Result.gen(function* () {
    const webhook = yield* readObject("webhook", value, ["service", "path", "method", "name", "description", "auth"])
    return {
      service: yield* readUrlSafe("webhook.service", webhook.service),
      path: yield* readPath(webhook.path),
      method: yield* optional(webhook.method, "POST", (it) => readOneOf("webhook.method", it, Method.literals)),
      name: yield* optional(webhook.name, `${fn.ns}_${fn.var}`, (it) => readText("webhook.name", it, 256)),
      description: yield* optional(webhook.description, description, (it) =>
        readText("webhook.description", it, textLengthMax)
      ),
      auth: yield* optional(webhook.auth, "none", (it) => readOneOf("webhook.auth", it, ["none", "required"] as const))
    }
  })

/** Reads a path as it appears in the URL, without decoding, because requests are compared with it. */
const readPath = (value: unknown): Read<string> => {
  if (typeof value !== "string" || !/^(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2}){1,1024}$/.test(value)) {
    return fault("webhook.path", "must be a URL path of 1 to 1024 characters, other characters percent-encoded")
  }
  const path = value.startsWith("/") ? value : `/${value}`
  return path.split("/").some((segment) => segment === "." || segment === "..")
    ? fault("webhook.path", "must have no segment . or ..")
    : Result.succeed(path)
}

const readSecretHeaders = (value: unknown): Read<ReadonlyArray<string>> =>
  Array.isArray(value)
    ? readEach("secret-headers", value, (field, name) =>
        typeof name === "string" && /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/.test(name)
          ? Result.succeed(name.toLowerCase())
          : fault(field, "must be the name of a header")
      )
    : fault("secret-headers", "must be an array of header names")
