// Runs the site's own search, the worker that the theme loads, and prints the places found for each query:
// node search.js SITE QUERY ...
const fs = require("fs"), path = require("path"), vm = require("vm");
const [site, ...queries] = process.argv.slice(2);
const workers = path.join(site, "assets/javascripts/workers");
const worker = fs.readdirSync(workers).find((name) => /^search\..*\.min\.js$/.test(name));
const index = JSON.parse(fs.readFileSync(path.join(site, "search/search_index.json")));

let receive, answer;
const scope = { addEventListener: (_, listener) => (receive = listener), postMessage: (message) => answer(message), console };
scope.self = scope;
vm.runInNewContext(fs.readFileSync(path.join(workers, worker), "utf8"), scope);
const ask = (type, data) => new Promise((resolve) => { answer = resolve; receive({ data: { type, data } }); });

(async () => {
  await ask(0, { ...index, options: { suggest: false } });
  const found = {};
  for (const query of queries) {
    const { data } = await ask(2, query);
    found[query] = data.items.map((page) => page[0].location);
  }
  console.log(JSON.stringify(found));
})();
