/** The pages under `docs/http`: every endpoint and every record of `openapi.json`, with a command that tries it. */
import { exampleOf } from "./Examples.ts"
import { type Endpoint, type JsonSchema, nameIn, type Operation, schemas, type Tag, tags } from "./OpenApi.ts"
import { fieldsOf, isRecord, table, typeOf } from "./Words.ts"

const notice = "<!-- Written by `npm run reference -w docs`. -->"

/** Pages that say more about what a tag is about. */
const guides: Readonly<Record<string, readonly [title: string, page: string]>> = {
  Builds: ["builds", "builds.md"],
  Triggers: ["schedules", "schedules.md"],
  Schedules: ["schedules", "schedules.md"],
  "Context variables": ["secrets", "secrets.md"],
  Files: ["the function environment", "functions.md#files"],
  Links: ["links to files", "functions.md#links-to-files"],
  Events: ["background functions", "background.md"],
  Runs: ["calls, and what can be done to runs", "calls.md"],
  Calls: ["calls, and what can be done to runs", "calls.md"],
  Sessions: ["credentials", "api.md#credentials"],
  "Service keys": ["credentials", "api.md#credentials"],
  Streams: ["watching what happens", "streams.md"],
  Environment: ["plans", "plans.md"],
  "Custom domains": ["custom domains", "domains.md"],
  "Audit log": ["the audit log", "audit.md"],
  Administration: ["plans", "plans.md"],
  Webhooks: ["webhooks", "webhooks.md"],
  Tools: ["tools for models", "mcp.md"],
  Tokens: ["tokens", "durable.md#tokens"]
}

const fileOf = ({ name }: Tag): string => `${name.toLowerCase().replaceAll(" ", "-")}.md`

const parametersOf = ({ parameters = [] }: Operation): string =>
  parameters.length === 0
    ? ""
    : table(
        ["Parameter", "In", "Type", ""],
        parameters.map(({ name, in: place, required, description, schema }) => [
          `\`${name}\``,
          place,
          typeOf(schema),
          [
            description ?? schema.description ?? "",
            schema.default === undefined ? "" : `${String(schema.default)} by default`,
            required === true || place === "path" ? "" : "optional"
          ]
            .filter((part) => part !== "")
            .join("; ")
        ])
      )

const bodyOf = ({ requestBody }: Operation): string => {
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? []
  if (type === undefined || media === undefined) return ""
  if (type === "*/*") return "The body is whatever the function understands."
  return `The body is \`${type}\`:\n\n${fieldsOf(media.schema)}`
}

/** Returns the record, or records, inside the envelope of a response. */
const contentOf = (type: string, schema: JsonSchema): string => {
  const name = nameIn(schema)
  if (type !== "application/json")
    return name === null || !isRecord(name) ? `\`${type}\`` : `\`${type}\` of ${typeOf(schema)}`
  const data = name === null ? undefined : schemas[name]?.properties?.data
  return data === undefined ? typeOf(schema) : typeOf(data)
}

const answersOf = ({ responses }: Operation): string => {
  const rows = Object.entries(responses)
    .filter(([status]) => status < "400" || status === "default")
    .map(([status, { description, content = {} }]) => [
      status === "default" ? "any" : status,
      Object.entries(content)
        .map(([type, { schema }]) => contentOf(type, schema))
        .join(", ") || "nothing",
      description === "Done" || description === "Created" ? "" : description
    ])
  if (rows.length === 0) return ""
  const isPlain = rows.every(([, , about]) => about === "")
  return isPlain
    ? table(
        ["Status", "Answer"],
        rows.map((row) => row.slice(0, 2))
      )
    : table(["Status", "Answer", ""], rows)
}

const codesIn = (schema: JsonSchema): ReadonlyArray<string> => {
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap(codesIn)
  const name = nameIn(schema)
  const error = name === null ? schema : schemas[name]
  return error?.properties?.error?.properties?.code?.enum ?? []
}

const failuresOf = ({ responses }: Operation): string => {
  const codes = Object.entries(responses).flatMap(([status, { content = {} }]) =>
    status < "400" || status === "default"
      ? []
      : [...new Set(codesIn(content["application/json"]?.schema ?? {}))].map(
          (code) => `[\`${code}\`](../errors.md#${code}) (${status})`
        )
  )
  return codes.length === 0 ? "" : `Failures: ${codes.join(", ")}.`
}

/** Returns the first successful response, if it is JSON. */
const answerText = ({ responses }: Operation): string => {
  const [, good] = Object.entries(responses).find(([status]) => status.startsWith("2")) ?? []
  const example = good?.content?.["application/json"]?.example
  return example === undefined ? "" : `\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``
}

const exampleText = (endpoint: Endpoint): string => {
  const { given, command } = exampleOf(endpoint)
  const before = given.length === 0 ? "" : `<!-- sh\ngiven ${given.join(" ")}\n-->\n`
  return `${before}\`\`\`sh\n${command}\n\`\`\``
}

const section = (endpoint: Endpoint): string => {
  const { method, path, operation } = endpoint
  const about = `${operation.summary}.${operation.description === undefined ? "" : ` ${operation.description}`}`
  return [
    `## \`${method} ${path}\``,
    operation["x-weft-extension"] === true ? `${about} Beyond [the specification](../specification.md).` : about,
    parametersOf(operation),
    bodyOf(operation),
    answersOf(operation),
    failuresOf(operation),
    exampleText(endpoint),
    answerText(operation)
  ]
    .filter((part) => part !== "")
    .join("\n\n")
}

const tagPage = (tag: Tag): string => {
  const guide = guides[tag.name]
  const more = guide === undefined ? "" : ` More: [${guide[0]}](../${guide[1]}).`
  return `${[`# ${tag.name}: endpoints`, notice, `${tag.description}.${more}`, ...tag.endpoints.map(section)].join("\n\n")}\n`
}

const recordsPage = (): string => {
  const names = Object.keys(schemas).filter(isRecord).sort()
  return `${[
    "# Records",
    notice,
    "The records in request and response bodies. New fields may be added to responses at any time.",
    ...names.map((name) => `## ${name}\n\n${fieldsOf(schemas[name] ?? {})}`)
  ].join("\n\n")}\n`
}

const overview = (): string => {
  const rows = tags.map((tag) => [
    `[${tag.name}](${fileOf(tag)})`,
    tag.description,
    tag.endpoints.map(({ method, path }) => `\`${method} ${path}\``).join("<br>")
  ])
  return `${[
    "# HTTP reference",
    notice,
    [
      "Every endpoint, made from [openapi.json](../openapi.json), which a server also serves at `/v1/openapi.json` and",
      "shows at `/docs`. [Using the API](../api.md) says what they have in common: credentials, bodies, envelopes, lists."
    ].join("\n"),
    [
      "In the commands `$API` is the address of the API, such as `http://127.0.0.1:8787/v1`, `$KEY` a credential,",
      "`$ADMIN_TOKEN` the host's own token, and ids of yours are in variables with their names."
    ].join("\n"),
    table(["", "", "Endpoints"], rows),
    "The fields of all records are on [a page of their own](records.md)."
  ].join("\n\n")}\n`
}

/** The pages by their files in `docs/http`. */
export const referencePages = (): ReadonlyMap<string, string> =>
  new Map([
    ["README.md", overview()],
    ...tags.map((tag): readonly [string, string] => [fileOf(tag), tagPage(tag)]),
    ["records.md", recordsPage()]
  ])
