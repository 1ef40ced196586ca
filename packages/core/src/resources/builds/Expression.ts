/**
 * Expressions on events in a function's `meta`: a subset of the Common Expression Language (https://cel.dev). Pure.
 *
 * The subset has no loops and no regular expressions. So an evaluation takes at most a time that is proportional to the
 * parts of the expression and to the size of the event.
 */
import { type ASTNode, Environment, EvaluationError, ParseError, TypeError } from "@marcbachmann/cel-js"
import { Result, type Schema } from "effect"

/** Maximum characters of an expression. */
export const expressionLengthMax = 1_000

/** Maximum parts of an expression: names, values, operators and calls. */
const partsMax = 200

/** Maximum depth of parts within parts. */
const depthMax = 40

/** The event that an expression reads. */
export interface ExpressionInput {
  readonly id: string
  readonly type: string
  readonly stream_id: string
  readonly data: Schema.Json
}

/** Reason why text is no expression, and the position of the fault in it, from 1. */
export interface ExpressionFault {
  readonly reason: string
  readonly position: number
}

/** A compiled expression. */
export interface Expression {
  readonly text: string
  /** Returns the value for an event, or the reason why it has none. */
  readonly evaluate: (event: ExpressionInput) => Result.Result<unknown, string>
}

/** Functions of the subset. Each takes at most a time that is proportional to its arguments. */
const functions: ReadonlySet<string> = new Set([
  ...["has", "size", "string", "int", "double", "bool"],
  ...["contains", "startsWith", "endsWith", "lowerAscii", "upperAscii", "trim"]
])

const environment = new Environment({
  limits: { maxAstNodes: partsMax, maxDepth: depthMax, maxListElements: 100, maxMapEntries: 0, maxCallArguments: 4 }
}).registerVariable("event", "map")

/**
 * Compiles an expression.
 *
 * @param wanted `bool` for a condition; `any` for a key
 */
export const compileExpression = (text: string, wanted: "bool" | "any"): Result.Result<Expression, ExpressionFault> => {
  try {
    const parsed = environment.parse(text)
    const refused = findRefused(parsed.ast)
    if (refused !== null) return Result.fail(refused)
    const { valid, type, error } = parsed.check()
    if (!valid) return Result.fail(toFault(error))
    if (wanted === "bool" && type !== "bool" && type !== "dyn") {
      return Result.fail({ reason: `the value must be true or false (got ${type})`, position: 1 })
    }
    return Result.succeed({ text, evaluate: (event) => evaluate(() => parsed({ event })) })
  } catch (error) {
    return Result.fail(toFault(error))
  }
}

/** Returns the expression of a stored build, whose deployment has checked it. */
export const loadExpression = (text: string, wanted: "bool" | "any"): Expression =>
  Result.getOrElse(compileExpression(text, wanted), ({ reason }) => ({ text, evaluate: () => Result.fail(reason) }))

const evaluate = (run: () => unknown): Result.Result<unknown, string> => {
  try {
    return Result.succeed(run())
  } catch (error) {
    return Result.fail(toFault(error).reason)
  }
}

const toFault = (error: unknown): ExpressionFault =>
  error instanceof ParseError || error instanceof TypeError || error instanceof EvaluationError
    ? { reason: error.summary, position: (error.range?.start ?? 0) + 1 }
    : { reason: error instanceof Error ? error.message : "it cannot be evaluated", position: 1 }

/** Returns the first part that is not in the subset; null without one. */
const findRefused = (node: ASTNode): ExpressionFault | null => {
  if (node.op === "map") return { reason: "maps are not supported", position: node.start + 1 }
  const name = node.op === "call" || node.op === "rcall" ? node.args[0] : null
  if (name !== null && !functions.has(name)) {
    const known = [...functions].join(", ")
    return { reason: `the function ${name} is not supported; use one of ${known}`, position: node.pos + 1 }
  }
  return findFirst(listParts(node), findRefused)
}

/** Returns the parts of a part. */
const listParts = (node: ASTNode): ReadonlyArray<ASTNode> => {
  switch (node.op) {
    case "value":
    case "id":
    case "map":
      return []
    case ".":
    case ".?":
      return [node.args[0]]
    case "call":
      return node.args[1]
    case "rcall":
      return [node.args[1], ...node.args[2]]
    case "!_":
    case "-_":
      return [node.args]
    default:
      return node.args
  }
}

const findFirst = <A, B>(items: ReadonlyArray<A>, find: (item: A) => B | null): B | null => {
  for (const item of items) {
    const found = find(item)
    if (found !== null) return found
  }
  return null
}
