"""Answers the SMT-LIB 2 script on standard input with cvc5, as its command would, which the Python
package lacks.

usage: python cvc5.py MILLISECONDS (for each question)
"""

import sys

import cvc5

solver = cvc5.Solver()
solver.setOption("tlimit-per", sys.argv[1])
parser = cvc5.InputParser(solver)
parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, sys.stdin.read(), "standard input")
symbols = parser.getSymbolManager()
while not (command := parser.nextCommand()).isNull():
    print(command.invoke(solver, symbols), end="", flush=True)
