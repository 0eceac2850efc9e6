// Checks the HTML of every page with html-validate's standard rules.
import { HtmlValidate, StaticConfigLoader } from "html-validate";
import { judge, pages, verdict } from "./lib.mjs";

const validator = new HtmlValidate(new StaticConfigLoader({ root: true, extends: ["html-validate:standard"] }));

for (const { path, text } of await pages()) {
  const { results } = await validator.validateString(text, path);
  judge(path, results.flatMap(({ messages }) =>
    messages.map(({ line, column, ruleId, message }) => `${line}:${column} ${ruleId}: ${message}`)));
}
verdict();
