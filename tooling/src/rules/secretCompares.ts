/** Secrets are compared in constant time: whatever stops at the first difference tells how much of a guess was right. */
import { type Expression, type PrivateIdentifier, Visitor } from "oxc-parser"
import type { Finding } from "../Finding.ts"
import { isDevelopment } from "../Layout.ts"
import type { Repository } from "../Repository.ts"
import type { Source } from "../Source.ts"

/** Where no stranger learns from the time that it takes. */
const elsewhere = [
  // On the machine of whoever has the secret.
  "packages/cli/",
  "packages/client/",
  // Examples of what tenants write.
  "examples/functions/",
  // A guest's own values, in its own isolate.
  "packages/sandbox/src/guest/"
]

/** Files whose comparisons were looked at, each with why they may stay. */
const judged: ReadonlyMap<string, string> = new Map([
  [
    "packages/core/src/access/Credentials.ts",
    "whole tokens that were verified before are looked up by a seeded hash, and stored hashes are compared to each other"
  ]
])

export const secretCompares = (repository: Repository): ReadonlyArray<Finding> =>
  [...repository.sources.values()]
    .filter(({ path }) => !isDevelopment(path) && !judged.has(path))
    .filter(({ path }) => !elsewhere.some((folder) => path.startsWith(folder)))
    .flatMap(compares)

const advice = "compare secrets by their hashes with Mac.timingSafeEqual"

const compares = (source: Source): ReadonlyArray<Finding> => {
  const findings: Array<Finding> = []
  const add = (node: { readonly start: number }, what: string) =>
    findings.push({
      file: source.path,
      line: source.lineOf(node.start),
      rule: "secret-compare",
      message: `${what}: ${advice}`
    })
  new Visitor({
    BinaryExpression: (node) => {
      if (!["==", "===", "!=", "!=="].includes(node.operator)) return
      const sides = [node.left, node.right]
      if (sides.some(isSecret) && !sides.some(isPlain)) add(node, "a secret is compared with an operator")
    },
    SwitchStatement: (node) => {
      if (isSecret(node.discriminant)) add(node, "a secret is told apart by cases")
    },
    CallExpression: (node) => {
      const { callee } = node
      if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return
      const { name } = callee.property
      const given = node.arguments.flatMap((argument) => (argument.type === "SpreadElement" ? [] : [argument]))
      if (searching.has(name) && (isSecret(callee.object) || given.some(isSecret))) {
        // `token.startsWith("svc_")` asks for its kind.
        if (!given.every(isPlain)) add(node, `a secret is compared by ${name}`)
      }
      if (keyed.has(name) && given[0] !== undefined && isSecret(given[0])) add(node, `a secret is a key of ${name}`)
    }
  }).visit(source.program)
  return findings
}

const searching: ReadonlySet<string> = new Set([
  ...["includes", "startsWith", "endsWith", "indexOf", "lastIndexOf", "localeCompare", "match", "search"],
  ...["equals", "compare"]
])

const keyed: ReadonlySet<string> = new Set(["get", "has"])

/** The last word of a name says what it is: `secretHash`, `secret_hash`, `adminToken`, `scriptMac`. */
const secretName = /(^|[a-z_])([sS]ecret|[tT]oken|[pP]assword|[sS]ignature|[mM]ac)(_?[hH]ash)?$/

const isSecret = (node: Expression | PrivateIdentifier): boolean => {
  if (node.type === "Identifier" || node.type === "PrivateIdentifier") return secretName.test(node.name)
  if (node.type === "CallExpression") {
    const { callee } = node
    return (
      callee.type === "MemberExpression" &&
      callee.object.type === "Identifier" &&
      callee.object.name === "Redacted" &&
      callee.property.type === "Identifier" &&
      callee.property.name === "value"
    )
  }
  return node.type === "MemberExpression" && node.property.type === "Identifier" && secretName.test(node.property.name)
}

/** What is no guess: that there is none, that it is empty, which kind it has. */
const isPlain = (node: Expression | PrivateIdentifier): boolean =>
  node.type === "Literal" ||
  (node.type === "Identifier" && node.name === "undefined") ||
  node.type === "UnaryExpression"
