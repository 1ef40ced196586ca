/**
 * The thread that checks the arguments of tools. Schemas are the tenants': a pattern, or references in circles, may
 * take for ever, and then only this thread stands still, until it is ended from outside.
 */
import { parentPort } from "node:worker_threads"
import { type Schema, type SchemaDraft, Validator } from "@cfworker/json-schema"
import type { CheckReply, CheckRequest } from "./SchemaChecks.ts"

/** Schemas whose validators are kept; the one that was made first goes first. */
const keptMax = 1000

const validators = new Map<number, Validator>()

const draftOf = ({ $schema = "" }: Schema): SchemaDraft => {
  if ($schema.includes("draft-07") || $schema.includes("draft-06")) return "7"
  if ($schema.includes("draft-04")) return "4"
  return $schema.includes("2019-09") ? "2019-09" : "2020-12"
}

const validatorOf = ({ schemaId, schema }: CheckRequest): Validator => {
  const kept = validators.get(schemaId)
  if (kept !== undefined) return kept
  const parsed: Schema = JSON.parse(schema)
  const made = new Validator(parsed, draftOf(parsed), true)
  const [oldest] = validators.keys()
  if (validators.size >= keptMax && oldest !== undefined) validators.delete(oldest)
  validators.set(schemaId, made)
  return made
}

const check = (request: CheckRequest): CheckReply => {
  try {
    const { valid, errors } = validatorOf(request).validate(JSON.parse(request.args))
    // The last one is the innermost: the others say only that something in them is wrong.
    const error = errors.at(-1)
    return { fault: valid ? null : `${error?.instanceLocation ?? "#"}: ${error?.error ?? "is not valid"}` }
  } catch (error) {
    return {
      fault: `the input schema of the tool cannot be used: ${error instanceof Error ? error.message : "it fails"}`
    }
  }
}

parentPort?.on("message", (request: CheckRequest) => parentPort?.postMessage(check(request)))

// Ready.
parentPort?.postMessage({ fault: null } satisfies CheckReply)
