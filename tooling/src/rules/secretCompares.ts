/** Secrets must be compared in constant time, because an early exit reveals how much of a guess was right. */
import { type Expression, type PrivateIdentifier, Visitor } from "oxc-parser"
import type { Finding } from "../Finding.ts"
import { isDevelopment } from "../Layout.ts"
import type { Repository } from "../Repository.ts"
import type { Source } from "../Source.ts"

/** Folders in which no attacker can measure the time of a comparison. */
const elsewhere = [
  // Runs on the machine of the secret's owner.
  "packages/cli/",
  "packages/client/",
  // Examples of tenants' code.
  "examples/functions/",
  // Compares a guest's values within its isolate.
  "packages/sandbox/src/guest/"
]

/** Files whose comparisons were reviewed, each with the reason why they are safe. */
const judged: ReadonlyMap<string, string> = new Map([
  [
    "packages/core/src/tenants/access/Credentials.ts",
    "finds verified tokens by a seeded hash, and compares stored hashes with each other"
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
      if (isSecret(node.discriminant)) add(node, "a secret is compared by a switch")
    },
    CallExpression: (node) => {
      const { callee } = node
      if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return
      const { name } = callee.property
      const given = node.arguments.flatMap((argument) => (argument.type === "SpreadElement" ? [] : [argument]))
      if (searching.has(name) && (isSecret(callee.object) || given.some(isSecret))) {
        // `token.startsWith("svc_")` checks only the kind of token.
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

/** Names whose last word denotes a secret: `secretHash`, `secret_hash`, `adminToken`, `scriptMac`. */
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

/** True for literals, undefined and unary expressions: comparisons with them reveal nothing about the value. */
const isPlain = (node: Expression | PrivateIdentifier): boolean =>
  node.type === "Literal" ||
  (node.type === "Identifier" && node.name === "undefined") ||
  node.type === "UnaryExpression"
