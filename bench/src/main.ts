/**
 * `npm run bench` measures every suite about speed; `npm run bench -- webhook latency` measures these two.
 *
 * --rounds N      rounds of each contender: by default 3 if suites are named, otherwise 2
 * --only A,B      only contenders whose name contains A or B
 * --short         a smoke test: one round of each contender that starts quickly
 * --record        writes results to `bench/results`, the source of the figures in the documentation
 * --json FILE     writes results to this file
 *
 * `npm run bench -- install` installs the packages that `--short` needs.
 * `npm run bench -- docs` writes the newest results into the documentation: see `results/Page.ts`.
 */
import { benchCommand } from "./Command.ts"
import { writePage } from "./results/Page.ts"
import { suites } from "./Suites.ts"
import { install } from "./targets/Peers.ts"

const args = process.argv.slice(2)
switch (args[0]) {
  case "docs":
    writePage()
    break
  case "install":
    await install("peers", (text) => void process.stderr.write(`${text}\n`))
    break
  default:
    process.exit(await benchCommand(args, suites))
}
