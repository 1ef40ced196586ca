/** Runs in a browser, on a page of the server itself, which so needs no more than a path. */
import { exercise } from "../runtimes/Exercise.ts"

const { token }: { readonly token: string } = JSON.parse(await (await fetch("/given")).text())
const told = await exercise({ baseUrl: "/", token })
await fetch("/report", { method: "POST", body: JSON.stringify(told) })
