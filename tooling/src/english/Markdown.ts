/** Checks Markdown with textlint: its prh rule for words, and a rule of ours for sentences. */
import { TextlintKernel, type TextlintKernelOptions } from "@textlint/kernel"
import markdownPlugin from "@textlint/textlint-plugin-markdown"
import type { TextlintRuleModule } from "@textlint/types"
import prhRule from "textlint-rule-prh"
import type { EnglishFinding } from "./Finding.ts"
import { blank, type Complaint, maskCode, oneWord, type Passage } from "./Passage.ts"
import { complaintsAboutSentences } from "./Sentences.ts"
import { complaintsInSource } from "./Sources.ts"
import { patternsFile } from "./Words.ts"

const separator = " - say: "

/** Checks the sentences of paragraphs, headings and cells, and the comments and strings of code blocks. */
const sentences: TextlintRuleModule = ({ RuleError, locator, report, getSource }) => {
  type Node = Parameters<typeof getSource>[0]
  const check = (complaintsIn: (source: string) => ReadonlyArray<Complaint>) => (node: Node) => {
    if (node === undefined) return
    for (const { at, rule, message, say } of complaintsIn(getSource(node))) {
      report(node, new RuleError(`${rule} ${message}${separator}${say}`, { padding: locator.at(at) }))
    }
  }
  const passage = (kind: Passage["kind"], read: (source: string) => string) =>
    check((source) => complaintsAboutSentences({ kind, start: 0, text: read(source), opens: false }))
  return {
    Paragraph: passage("paragraph", prose),
    Header: passage("heading", prose),
    TableCell: passage("paragraph", cell),
    CodeBlock: check(complaintsInBlock)
  }
}

/** The fence is replaced by spaces, so that offsets stay. */
const complaintsInBlock = (block: string): ReadonlyArray<Complaint> => {
  const [fence = "", language = ""] = /^`{3,}(\w*).*\n/.exec(block) ?? []
  const code = " ".repeat(fence.length) + block.slice(fence.length).replace(/`{3,}\s*$/, blank)
  if (/^(?:[tj]sx?|typescript|javascript)$/.test(language)) return complaintsInSource("ts", code)
  return /^(?:sh|bash|ya?ml)$/.test(language) ? complaintsInSource("sh", code) : []
}

const prose = (source: string): string =>
  maskCode(source)
    .replace(/<!--[\s\S]*?-->|<\/?[a-z][^>]*>/gi, blank)
    .replace(
      /!?\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])/g,
      (link, label: string) => `${label}${oneWord(link.slice(label.length))}`
    )
    .replace(/^[ \t]*[>|]/gm, blank)
    // The splitter sees no end of a sentence between a period and the end of emphasis.
    .replace(/\*\*/g, blank)

/** A cell is a list, whose items end with semicolons. */
const cell = (source: string): string => prose(source).replace(/;/g, ".")

/** Node hands over a CommonJS module that was ESM with its `default` inside, Vite without. */
const unwrap = <A>(module: { readonly default: A }): A => ("default" in module ? module.default : module)

const options = (filePath: string): TextlintKernelOptions => ({
  ext: ".md",
  filePath,
  plugins: [{ pluginId: "markdown", plugin: unwrap(markdownPlugin) }],
  rules: [
    {
      ruleId: "words",
      rule: unwrap(prhRule),
      options: { rulePaths: [patternsFile], checkLink: true, checkBlockQuote: true, checkEmphasis: true }
    },
    { ruleId: "sentences", rule: sentences }
  ]
})

export const findingsInMarkdown = async (file: string, text: string): Promise<ReadonlyArray<EnglishFinding>> => {
  const { messages } = await new TextlintKernel().lintText(text, options(file))
  return messages.map(({ ruleId, message, loc: { start } }) => {
    if (ruleId === "words") {
      const [found = "", rest = ""] = message.split(" => ")
      const [say = ""] = rest.split("\n")
      return { file, ...start, rule: "words", message: `"${found.replace(/\s+/g, " ")}"`, say }
    }
    const [complaint = "", say = ""] = message.split(separator)
    const [rule = ""] = complaint.split(" ", 1)
    return { file, ...start, rule, message: complaint.slice(rule.length + 1), say }
  })
}
