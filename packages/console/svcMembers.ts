/** Reads the members of `svc` from the types of the SDK, for the completion of the editor. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { Plugin } from "vite"

interface Member {
  readonly name: string
  readonly isMethod: boolean
  /** Parameters and result, or the type. */
  readonly detail: string
  readonly info: string
  readonly members: ReadonlyArray<Member>
}

const files = ["Svc", "SvcOperations", "Files", "Event", "Tick", "Durable"]

const sdk = (file: string): string => fileURLToPath(new URL(`../sdk/src/${file}.ts`, import.meta.url))

/** Interfaces whose members are those of `svc`, and those that are types of members. */
const roots = ["SvcOperations", "Svc", "EventSvc", "ScheduleSvc", "DurableSvc"]
const nested = ["Files", "RunFacts", "Event", "Tick"]

/** Module that contains the members as data. */
const moduleId = "virtual:svc-members"

export const svcMembers = (): Plugin => ({
  name: "svc-members",
  resolveId: (id) => (id === moduleId ? `\0${moduleId}` : undefined),
  load: (id) => (id === `\0${moduleId}` ? `export const members = ${JSON.stringify(readMembers())}` : undefined)
})

const readMembers = (): ReadonlyArray<Member> => {
  const text = files.map((file) => readFileSync(sdk(file), "utf8")).join("\n")
  const found = new Map<string, Member>()
  for (const root of roots) {
    for (const member of parseBody(text, bodyOf(text, root))) found.set(member.name, member)
  }
  if (!found.has("events") || !found.has("step")) throw new Error("The types of the SDK have another format")
  return [...found.values()].sort((a, b) => a.name.localeCompare(b.name))
}

/** Returns the text between the braces of an interface. */
const bodyOf = (text: string, name: string): string => {
  const start = new RegExp(`export interface ${name}\\b`).exec(text)
  if (start === null) throw new Error(`The SDK has no interface ${name}`)
  // The braces of the body follow those of type parameters on the same line.
  const open = text.indexOf("{\n", start.index)
  return text.slice(open + 1, endOf(text, open))
}

/** Returns the index of the brace that closes the one at `open`. */
const endOf = (text: string, open: number): number => {
  let depth = 0
  for (let index = open; index < text.length; index++) {
    if (text[index] === "{") depth++
    else if (text[index] === "}" && --depth === 0) return index
  }
  throw new Error("A brace of the SDK's types is not closed")
}

const memberShape = /^(?:readonly )?(\w+)\??(<[\s\S]*?>)?(\(|:)/

const parseBody = (text: string, body: string): ReadonlyArray<Member> =>
  splitMembers(body).flatMap(({ doc, code }) => {
    const [, name, , kind] = memberShape.exec(code) ?? []
    if (name === undefined) return []
    const isMethod = kind === "(" || typeOf(code).startsWith("(")
    return [{ name, isMethod, detail: detailOf(code, isMethod), info: doc, members: membersOf(text, typeOf(code)) }]
  })

/** Returns the text behind the first colon outside of brackets. */
const typeOf = (code: string): string => code.slice(code.indexOf(":") + 1).trim()

const membersOf = (text: string, type: string): ReadonlyArray<Member> => {
  if (type.startsWith("{")) return parseBody(text, type.slice(1, -1))
  const log = /^Readonly<Record<LogLevel, (.*)>>$/s.exec(type)
  if (log !== null) {
    const [, detail = ""] = log
    return ["debug", "info", "warn", "error"].map((name) => ({ name, isMethod: true, detail, info: "", members: [] }))
  }
  const name = /^\w+/.exec(type)?.[0] ?? ""
  return nested.includes(name) ? parseBody(text, bodyOf(text, name)) : []
}

const detailOf = (code: string, isMethod: boolean): string => {
  const flat = code.replaceAll(/\s+/g, " ").trim()
  const detail = isMethod ? flat.slice(flat.indexOf("(")) : typeOf(flat)
  return /^\{|^Readonly</.test(detail) ? "" : detail
}

interface Part {
  readonly doc: string
  readonly code: string
}

/** Splits a body into members with their comments. */
const splitMembers = (body: string): ReadonlyArray<Part> => {
  const parts: Array<Part> = []
  let doc = ""
  let code = ""
  let inDoc = false
  for (const line of body.split("\n").map((text) => text.trim())) {
    // Comments of nested members belong to the code, which is parsed again.
    if (code === "" && line.startsWith("/**")) {
      inDoc = true
      doc = ""
    }
    if (inDoc) {
      doc += ` ${line.replaceAll(/^\/?\*+\/?|\*\/$/g, "").trim()}`
      if (line.endsWith("*/")) inDoc = false
      continue
    }
    code += `${line}\n`
    if (code.trim() !== "" && isBalanced(code)) {
      parts.push({ doc: doc.trim(), code: code.trim() })
      doc = ""
      code = ""
    }
  }
  return parts
}

const isBalanced = (code: string): boolean => {
  const plain = code.replaceAll("=>", "")
  const count = (characters: string) => [...plain].filter((one) => characters.includes(one)).length
  return count("({[<") === count(")}]>")
}
