/** Completion of `svc` from the types of the SDK, of secrets' names, and of whole functions. */

import { members, type SvcMember } from "virtual:svc-members"
import {
  type Completion,
  type CompletionContext,
  type CompletionResult,
  type CompletionSource,
  completeAnyWord,
  snippetCompletion
} from "@codemirror/autocomplete"
import { localCompletionSource } from "@codemirror/lang-javascript"
import { snippets } from "./snippets.ts"

const toCompletion = ({ name, isMethod, detail, info }: SvcMember): Completion => ({
  label: name,
  type: isMethod ? "method" : "property",
  ...(detail === "" ? {} : { detail: ` ${detail.slice(0, 80)}` }),
  ...(info === "" && detail.length <= 80 ? {} : { info: info === "" ? detail : info })
})

/** Returns the members at a path behind `svc`, such as `["events"]`. */
const membersAt = (path: ReadonlyArray<string>): ReadonlyArray<SvcMember> => {
  let found = members
  for (const name of path) found = found.find((member) => member.name === name)?.members ?? []
  return found
}

const completeSvc = (context: CompletionContext): CompletionResult | null => {
  const before = context.matchBefore(/\bsvc(?:\.\w+)*\.\w*$/)
  if (before === null) return null
  const path = before.text.split(".").slice(1, -1)
  const from = before.from + before.text.lastIndexOf(".") + 1
  return { from, options: membersAt(path).map(toCompletion), validFor: /^\w*$/ }
}

const completeSecret = (context: CompletionContext, names: ReadonlyArray<string>): CompletionResult | null => {
  const before = context.matchBefore(/\bsvc\.context\.get\(["'`]\w*$/)
  if (before === null) return null
  const from = before.from + before.text.search(/\w*$/)
  return { from, options: names.map((label) => ({ label, type: "constant" })), validFor: /^\w*$/ }
}

const snippetOptions = snippets.map(({ label, detail, template }) =>
  snippetCompletion(template, { label, detail: ` ${detail}`, type: "function" })
)

const completeSnippet = (context: CompletionContext): CompletionResult | null => {
  const before = context.matchBefore(/^\w*$/)
  return before === null || (before.text === "" && !context.explicit)
    ? null
    : { from: before.from, options: snippetOptions }
}

export const makeCompletion =
  (secrets: () => ReadonlyArray<string>): CompletionSource =>
  (context) =>
    completeSecret(context, secrets()) ??
    completeSvc(context) ??
    completeSnippet(context) ??
    localCompletionSource(context) ??
    completeAnyWord(context)
