/** Parses JSON files, with readable errors. */
import { Effect, Schema, SchemaIssue } from "effect"
import { type Failure, failure } from "../Failure.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** Fails with `code`. The message names the file and the invalid fields, never their values. */
export const parseJson = <A>(
  code: string,
  file: string,
  schema: Schema.Codec<A, unknown>,
  text: string
): Effect.Effect<A, Failure> =>
  Effect.try({
    try: (): unknown => JSON.parse(text),
    // The message of V8 quotes the text, which may contain a token.
    catch: () => failure(code, `${file} is not JSON`, "correct or remove it")
  }).pipe(
    Effect.flatMap((value) => Schema.decodeUnknownEffect(schema)(value, { errors: "all" })),
    Effect.catchTag("SchemaError", ({ issue }) =>
      Effect.fail(
        failure(
          code,
          `${file} is invalid: ${format(issue)
            .issues.map((issue) => {
              const path = (issue.path ?? [])
                .map((part) => String(typeof part === "object" ? part.key : part))
                .join(".")
              return path === "" ? issue.message : `${path}: ${issue.message}`
            })
            .join("; ")}`
        )
      )
    )
  )
