/** Prompts that people select in an MCP client. */
import type { AnyEvents, Catalogue } from "./Event.ts"
import type { PromptResult } from "./McpResult.ts"
import { type PromptMeta, type Terms, withMeta } from "./Meta.ts"
import type { PromptSvc } from "./Svc.ts"

export interface PromptOptions extends PromptMeta, Terms {}

type PromptArguments = Readonly<Record<string, string>>

/** The function as the runtime calls it. */
export interface Prompt<Events extends Catalogue = AnyEvents> {
  (args: PromptArguments, svc: PromptSvc<Events>): Promise<PromptResult>
  readonly meta: Terms & { readonly prompt: PromptMeta }
}

/**
 * Defines a prompt:
 *
 *     export const review = prompt({ service: "crm", arguments: [{ name: "id" }] }, ({ id }) => `Review customer ${id}`)
 */
export const prompt = (
  { timeout, retention, ...options }: PromptOptions,
  fn: (args: PromptArguments, svc: PromptSvc) => PromptResult | Promise<PromptResult>
): Prompt =>
  withMeta(async (args: PromptArguments, svc: PromptSvc): Promise<PromptResult> => fn(args, svc), {
    prompt: options,
    timeout,
    retention
  })
