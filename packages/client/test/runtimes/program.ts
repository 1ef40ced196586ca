/** Runs in Bun and Deno. Its last argument is the input as JSON. */
import process from "node:process"
import { exercise } from "./Exercise.ts"

console.log(JSON.stringify(await exercise(JSON.parse(process.argv.at(-1) ?? ""))))
