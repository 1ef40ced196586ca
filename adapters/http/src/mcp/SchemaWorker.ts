/**
 * Worker thread that validates the arguments and results of tools. Schemas come from tenants: a pattern or circular references may
 * block the thread indefinitely. Only this thread is then blocked, until the main thread terminates it.
 */
import { parentPort } from "node:worker_threads"
import { type Schema, type SchemaDraft, Validator } from "@cfworker/json-schema"
import type { ValidationReply, ValidationRequest } from "./ArgumentValidator.ts"

/** Maximum validators in the cache. Beyond it, the oldest is removed. */
const validatorsMax = 1000

const validators = new Map<number, Validator>()

const detectDraft = ({ $schema = "" }: Schema): SchemaDraft => {
  if ($schema.includes("draft-07") || $schema.includes("draft-06")) return "7"
  if ($schema.includes("draft-04")) return "4"
  return $schema.includes("2019-09") ? "2019-09" : "2020-12"
}

const getValidator = ({ schemaId, schema }: ValidationRequest): Validator => {
  const cached = validators.get(schemaId)
  if (cached !== undefined) return cached
  const parsed: Schema = JSON.parse(schema)
  const created = new Validator(parsed, detectDraft(parsed), true)
  const [oldest] = validators.keys()
  if (validators.size >= validatorsMax && oldest !== undefined) validators.delete(oldest)
  validators.set(schemaId, created)
  return created
}

const check = (request: ValidationRequest): ValidationReply => {
  try {
    const { valid, errors } = getValidator(request).validate(JSON.parse(request.args))
    // The last error is the innermost. The others only say that a part of them is invalid.
    const error = errors.at(-1)
    return { fault: valid ? null : `${error?.instanceLocation ?? "#"}: ${error?.error ?? "is not valid"}` }
  } catch (error) {
    return {
      fault: `the schema of the tool cannot be used: ${error instanceof Error ? error.message : "it fails"}`
    }
  }
}

parentPort?.on("message", (request: ValidationRequest) => parentPort?.postMessage(check(request)))

// Signals that the thread is ready.
parentPort?.postMessage({ fault: null } satisfies ValidationReply)
