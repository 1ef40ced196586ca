/** Parsing and templates. */
import type { Area } from "../Case.ts"

export const formats: Area = {
  name: "parsing and templates",
  cases: [
    {
      name: "csv-parse",
      packages: ["csv-parse", "csv-stringify"],
      code: `import { parse } from "csv-parse/sync"
        import { stringify } from "csv-stringify/sync"
        export const main = () => [parse("a,b\\n1,2", { columns: true }), stringify([["x", "y,z"]])]`,
      expected: [[{ a: "1", b: "2" }], 'x,"y,z"\n']
    },
    {
      name: "csv-parse (stream)",
      packages: ["csv-parse"],
      code: `import { parse } from "csv-parse"
        import { Readable } from "node:stream"
        export const main = async () => {
          const rows = []
          for await (const row of Readable.from(["a,b\\n1", ",2\\n"]).pipe(parse({ columns: true }))) rows.push(row)
          return rows
        }`,
      expected: [{ a: "1", b: "2" }]
    },
    {
      name: "papaparse",
      code: `import Papa from "papaparse"
        export const main = () => Papa.parse("a;b\\n1;2", { header: true }).data`,
      expected: [{ a: "1", b: "2" }]
    },
    {
      name: "fast-csv",
      code: `import { parseString } from "fast-csv"
        export const main = () => new Promise((resolve, reject) => {
          const rows = []
          parseString("a,b\\n1,2", { headers: true }).on("data", (row) => rows.push(row)).on("error", reject).on("end", () => resolve(rows))
        })`,
      expected: [{ a: "1", b: "2" }]
    },
    {
      name: "csvtojson",
      code: `import csv from "csvtojson"
        export const main = () => csv().fromString("a,b\\n1,2")`,
      expected: [{ a: "1", b: "2" }]
    },
    {
      name: "xml2js",
      code: `import { parseStringPromise } from "xml2js"
        export const main = () => parseStringPromise("<a><b>1</b></a>")`,
      expected: { a: { b: ["1"] } }
    },
    {
      name: "fast-xml-parser",
      code: `import { XMLParser } from "fast-xml-parser"
        export const main = () => new XMLParser().parse("<a><b>1</b></a>")`,
      expected: { a: { b: 1 } }
    },
    {
      name: "cheerio",
      code: `import * as cheerio from "cheerio"
        export const main = () => cheerio.load("<ul><li>a</li><li>b</li></ul>")("li").map((_, item) => cheerio.load(item).text()).get()`,
      expected: ["a", "b"]
    },
    {
      name: "node-html-parser",
      code: `import { parse } from "node-html-parser"
        export const main = () => parse("<p class=a>hi</p>").querySelector(".a").text`,
      expected: "hi"
    },
    {
      name: "linkedom",
      code: `import { parseHTML } from "linkedom"
        export const main = () => parseHTML("<p>hi</p>").document.querySelector("p").textContent`,
      expected: "hi"
    },
    {
      name: "turndown",
      code: `import Turndown from "turndown"
        export const main = () => new Turndown().turndown("<b>hi</b>")`,
      expected: "**hi**"
    },
    {
      name: "html-to-text",
      code: `import { convert } from "html-to-text"
        export const main = () => convert("<p>hi <a href='https://a.example.test'>you</a></p>")`,
      expected: "hi you [https://a.example.test]"
    },
    {
      name: "sanitize-html",
      code: `import sanitize from "sanitize-html"
        export const main = () => sanitize("<p onclick=x>hi<script>1</script></p>")`,
      expected: "<p>hi</p>"
    },
    {
      name: "js-yaml",
      code: `import * as yaml from "js-yaml"\nexport const main = () => yaml.load("a: [1, 2]")`,
      expected: { a: [1, 2] }
    },
    {
      name: "yaml",
      code: `import { parse } from "yaml"\nexport const main = () => parse("a: [1, 2]")`,
      expected: { a: [1, 2] }
    },
    {
      name: "@iarna/toml",
      code: `import toml from "@iarna/toml"\nexport const main = () => toml.parse("a = 1").a`,
      expected: 1
    },
    {
      name: "ini",
      code: `import ini from "ini"\nexport const main = () => ini.parse("[a]\\nb=1")`,
      expected: { a: { b: "1" } }
    },
    {
      name: "json5",
      code: `import JSON5 from "json5"\nexport const main = () => JSON5.parse("{a: 1,}")`,
      expected: { a: 1 }
    },
    {
      name: "protobufjs",
      code: `import protobuf from "protobufjs"
        export const main = () => {
          const type = protobuf.parse('syntax = "proto3"; message A { string name = 1; }').root.lookupType("A")
          return type.decode(type.encode({ name: "Ada" }).finish()).name
        }`,
      expected: "Ada"
    },
    {
      name: "@msgpack/msgpack",
      code: `import { decode, encode } from "@msgpack/msgpack"
        export const main = () => decode(encode({ a: [1, "x"] }))`,
      expected: { a: [1, "x"] }
    },
    {
      name: "handlebars",
      code: `import Handlebars from "handlebars"
        export const main = () => Handlebars.compile("Hello {{name}}{{#each list}} {{this}}{{/each}}")({ name: "Ada", list: [1, 2] })`,
      expected: "Hello Ada 1 2"
    },
    {
      name: "mustache",
      code: `import Mustache from "mustache"\nexport const main = () => Mustache.render("Hi {{a}}", { a: "<b>" })`,
      expected: "Hi &lt;b&gt;"
    },
    {
      name: "ejs",
      code: `import ejs from "ejs"\nexport const main = () => ejs.render("<% for (const a of list) { %>(<%= a %>)<% } %>", { list: [1, 2] })`,
      expected: "(1)(2)"
    },
    {
      name: "nunjucks",
      code: `import nunjucks from "nunjucks"\nexport const main = () => nunjucks.renderString("Hi {{ a | upper }}", { a: "ada" })`,
      expected: "Hi ADA"
    },
    {
      name: "liquidjs",
      code: `import { Liquid } from "liquidjs"\nexport const main = () => new Liquid().parseAndRender("Hi {{ a | upcase }}", { a: "ada" })`,
      expected: "Hi ADA"
    },
    {
      name: "pug",
      code: `import pug from "pug"\nexport const main = () => pug.render("p Hi #{a}", { a: "Ada" })`,
      expected: "<p>Hi Ada</p>"
    },
    {
      name: "eta",
      code: `import { Eta } from "eta"\nexport const main = () => new Eta().renderString("Hi <%= it.a %>", { a: "Ada" })`,
      expected: "Hi Ada"
    },
    {
      name: "marked",
      code: `import { marked } from "marked"\nexport const main = () => marked.parse("**a**")`,
      expected: "<p><strong>a</strong></p>\n"
    },
    {
      name: "markdown-it",
      code: `import MarkdownIt from "markdown-it"\nexport const main = () => new MarkdownIt().render("*a*")`,
      expected: "<p><em>a</em></p>\n"
    },
    {
      name: "react-dom",
      packages: ["react", "react-dom"],
      code: `import { createElement } from "react"
        import { renderToString } from "react-dom/server"
        export const main = () => renderToString(createElement("b", { className: "x" }, "hi"))`,
      expected: '<b class="x">hi</b>'
    },
    {
      name: "mjml",
      packages: ["mjml-browser"],
      code: `import mjml from "mjml-browser"
        export const main = async () => (await mjml("<mjml><mj-body><mj-section><mj-column><mj-text>hi</mj-text></mj-column></mj-section></mj-body></mjml>")).html.includes("hi")`,
      expected: true
    }
  ]
}
