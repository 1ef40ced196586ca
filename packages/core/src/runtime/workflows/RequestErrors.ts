/** Errors of the requests of a durable function. */
import { Effect } from "effect"
import { type JsonText, toJsonText } from "../../foundation/JsonText.ts"
import { HostCallRefused } from "../../platform/sandbox/Sandbox.ts"

/** Returns an error as JSON text. */
export const formatError = (name: string, message: string): JsonText => toJsonText({ name, message, stack: "" })

/** Refuses a host call with an error. */
export const refuse = (name: string, message: string) => Effect.fail(new HostCallRefused({ name, message }))
