/** Runs in Bun and Deno; its last argument is what it is given. */
import process from "node:process"
import { exercise } from "./Exercise.ts"

console.log(JSON.stringify(await exercise(JSON.parse(process.argv.at(-1) ?? ""))))
