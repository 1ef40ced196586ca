/** All suites, in the order in which they are measured and shown. */
import type { Suite } from "./Suite.ts"
import { attackSuite } from "./suites/attacks.ts"
import { cancel } from "./suites/cancel.ts"
import { cold } from "./suites/cold.ts"
import { costs } from "./suites/costs.ts"
import { durable } from "./suites/durable.ts"
import { evaluate } from "./suites/evaluate.ts"
import { files } from "./suites/files.ts"
import { jobs } from "./suites/jobs.ts"
import { latency } from "./suites/latency.ts"
import { sleepers } from "./suites/sleepers.ts"
import { sse } from "./suites/sse.ts"
import { steps } from "./suites/steps.ts"
import { webhook } from "./suites/webhook.ts"

export const suites: ReadonlyArray<Suite> = [
  webhook,
  jobs,
  latency,
  steps,
  durable,
  evaluate,
  sleepers,
  files,
  sse,
  cold,
  costs,
  cancel,
  attackSuite
]
